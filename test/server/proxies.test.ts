import { join } from "node:path";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { wrapFetchWithPayment, type x402Client } from "@x402/fetch";
import { expect } from "chai";
import { toSandboxSources } from "../../runtime/cli/sandbox/sources.ts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import type { Manifest } from "../../runtime/core/set/manifest.ts";
import { HEAD_BYTES } from "../../runtime/core/x402/challenge.ts";
import { sharedSandbox } from "../support/chains/chains.ts";
import { withProgram } from "../support/programs.ts";
import { PROXIES, startProxy } from "../support/proxies.ts";
import { type LocalSeller, startLocalSeller } from "../support/sellers/local-seller.ts";
import { askRpc, createBuyer, json, receiptOf } from "../support/sellers/stock-buyer.ts";
import type { Loose } from "../surfaces/support/fixture-set.ts";

const HOST = "the-telephones-at-the-corner.example.com";
const set = await loadSet(join(import.meta.dirname, "../.."));
const sold = set.manifests.filter(({ price }) => price !== undefined);
const pathOf = ({ route }: Manifest): string => route.split(" ")[1] as string;

/** Asks for a service and buys it at one of the doors; answers the receipt. */
type Buy = (url: string, manifest: Manifest, buyer: x402Client) => Promise<Loose>;

const DOORS: Readonly<Record<string, Buy>> = {
  async REST(url, manifest, buyer) {
    const response = await wrapFetchWithPayment(fetch, buyer)(
      url + pathOf(manifest),
      json(manifest.examples[0]?.input),
    );
    expect(response.status, await response.clone().text()).to.equal(200);
    return receiptOf(response);
  },
  async MCP(url, { id: name, examples }, buyer) {
    const call = { name, arguments: examples[0]?.input };
    const { structuredContent } = await askRpc(`${url}/mcp`, "tools/call", call);
    const payment = await buyer.createPaymentPayload(structuredContent);
    const { _meta } = await askRpc(`${url}/mcp`, "tools/call", { ...call, _meta: { "x402/payment": payment } });
    return _meta["x402/payment-response"];
  },
  async A2A(url, { id: skill, examples }, buyer) {
    const send = (more: object): Promise<Loose> =>
      askRpc(`${url}/v1/a2a`, "message/send", {
        message: { kind: "message", messageId: "1", role: "user", parts: [], ...more },
      });
    const task = await send({ parts: [{ kind: "data", data: { skill, input: examples[0]?.input } }] });
    const payment = await buyer.createPaymentPayload(task.status.message.metadata["x402.payment.required"]);
    const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": payment };
    const { status } = await send({ taskId: task.id, metadata });
    return status.message.metadata["x402.payment.receipts"][0];
  },
};

describe("a shop whose public address has a host of 40 characters", () => {
  let server: LocalSeller;
  let buyer: x402Client;
  /** What is bought, and at which door. */
  let purchase = "";
  before(async () => {
    const [sandbox, own] = [await sharedSandbox(), { env: {}, llm: undefined }];
    const sources = toSandboxSources({ set, own, sandbox, online: false });
    server = await startLocalSeller({ sandbox, set, sources, baseUrl: `https://${HOST}` });
    buyer = await createBuyer(sandbox);
    buyer.setSpendControls({ maxAmountPerPayment: "$5" });
    // Behind the second proxy, the payment of the first one gets the stored answer: the same heads without the work.
    const pay = buyer.createPaymentPayload.bind(buyer);
    const payments = new Map<string, ReturnType<typeof pay>>();
    buyer.createPaymentPayload = (required) => {
      const payment = payments.get(purchase) ?? pay(required);
      payments.set(purchase, payment);
      return payment;
    };
  });
  after(() => server?.stop());

  it(`answers every unpaid call with a head of at most ${HEAD_BYTES} bytes`, async () => {
    expect(HOST).to.have.length(40);
    for (const manifest of sold) {
      const response = await fetch(server.url + pathOf(manifest), { method: "POST" });
      const lines = [...response.headers].map(([name, value]) => `${name}: ${value}\r\n`);
      expect(`HTTP/1.1 402 Payment Required\r\n${lines.join("")}\r\n`.length, manifest.id).to.be.at.most(HEAD_BYTES);
      const { accepts, resource } = (await response.json()) as Loose;
      const header = decodePaymentRequiredHeader(response.headers.get("payment-required") ?? "") as Loose;
      expect(header, manifest.id).to.deep.include({ accepts, resource });
      expect(header.extensions, manifest.id).to.include.keys("bazaar");
    }
  });

  for (const name of PROXIES)
    for (const [door, buy] of Object.entries(DOORS))
      withProgram(name).it(`sells every service over ${door} behind ${name} with its default settings`, async () => {
        const proxy = await startProxy(name, server.url);
        try {
          for (const manifest of sold) {
            purchase = `${manifest.id} over ${door}`;
            expect(await buy(proxy.url, manifest, buyer), manifest.id).to.include({ success: true });
          }
        } finally {
          await proxy.stop();
        }
      });
});
