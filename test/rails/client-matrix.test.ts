import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier";
import { expect } from "chai";
import { rail, type TestSandbox } from "../support/chains/chains.ts";
import type { Seller } from "../support/sellers/seller.ts";
import { type SharedSeller, sharedSeller } from "../support/sellers/shared-seller.ts";
import { json, receiptOf, stockClient } from "../support/sellers/stock-buyer.ts";
import { CLIENTS } from "../surfaces/a2a/served/support/clients.ts";

const INPUT = { low: 1, high: 1_000_000 };

/** An answer that was bought. */
interface Bought {
  readonly output: unknown;
  readonly transaction: string;
}

/** What every client does, in the words of none. */
interface AnyClient {
  /** The ids of the services that it sees. */
  list(): Promise<readonly string[]>;
  /** An unpaid call's challenge. */
  ask(): Promise<PaymentRequired>;
  buy(payment: object): Promise<Bought>;
  close(): Promise<void>;
}

async function openRest(url: string): Promise<AnyClient> {
  const call = json(INPUT);
  return {
    async list() {
      const { services } = (await (await fetch(url)).json()) as { services: { id: string }[] };
      return services.map(({ id }) => id);
    },
    ask: async () => (await (await fetch(`${url}/v1/roll`, call)).json()) as PaymentRequired,
    async buy(payment) {
      const header = encodePaymentSignatureHeader(payment as never);
      const headers = { ...call.headers, "payment-signature": header };
      const response = await fetch(`${url}/v1/roll`, { ...call, headers });
      return { output: await response.json(), transaction: receiptOf(response).transaction };
    },
    close: async () => {},
  };
}

async function openMcp(url: string): Promise<AnyClient> {
  const client = new Client({ name: "buyer", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  const call = { name: "roll", arguments: INPUT };
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    ask: async () => (await client.callTool(call)).structuredContent as PaymentRequired,
    async buy(payment) {
      const { structuredContent: output, _meta } = await client.callTool({
        ...call,
        _meta: { "x402/payment": payment },
      });
      const { transaction } = (_meta as { "x402/payment-response": Bought })["x402/payment-response"];
      return { output, transaction };
    },
    close: () => client.close(),
  };
}

const openA2a =
  (open: (typeof CLIENTS)[number][1]) =>
  async (url: string): Promise<AnyClient> => {
    const client = await open(url);
    const begin = () => client.begin("roll", INPUT);
    return {
      async list() {
        const card = (await (await fetch(`${url}/.well-known/agent-card.json`)).json()) as { skills: { id: string }[] };
        return card.skills.map(({ id }) => id);
      },
      ask: async () => (await begin()).status.message.metadata["x402.payment.required"],
      async buy(payment) {
        const paid = await client.pay(await begin(), payment);
        const [receipt] = paid.status.message.metadata["x402.payment.receipts"];
        return { output: client.dataOf(paid), transaction: receipt.transaction };
      },
      close: async () => {},
    };
  };

const MATRIX: readonly (readonly [name: string, open: (url: string) => Promise<AnyClient>])[] = [
  ["@x402/fetch over HTTP", openRest],
  ["@modelcontextprotocol/client over MCP", openMcp],
  ...CLIENTS.map(([name, open]) => [`@a2a-js/sdk ${name}`, openA2a(open)] as const),
];

describe("the matrix of clients:", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  let received: SharedSeller["received"];
  before(async () => {
    ({ sandbox, seller, received } = await sharedSeller());
  });

  for (const [name, open] of MATRIX)
    for (const id of ["base", "solana"] as const)
      it(`${name} lists, asks, pays with ${rail(id).title}, and gets lost answers again by payment and by name`, async () => {
        const client = await open(seller.url);
        expect(await client.list()).to.include("roll");
        const wallet = await stockClient(sandbox, id);
        const sign = async (named?: string): Promise<object> => {
          const required = structuredClone(await client.ask());
          expect(required.accepts.map(({ network }) => network)).to.include(rail(id).network);
          if (named !== undefined) appendPaymentIdentifierToExtensions(required.extensions!, named);
          return wallet.createPaymentPayload(required);
        };
        const before = await received[id]();
        const payment = await sign();
        const bought = await client.buy(payment);
        expect(bought.output).to.have.property("domain", "payphone/roll/v1");
        expect(await client.buy(payment), "replayed").to.deep.equal(bought);
        const purchase = generatePaymentId();
        const named = await client.buy(await sign(purchase));
        expect(await client.buy(await sign(purchase)), "signed anew").to.deep.equal(named);
        expect(named.transaction).not.to.equal(bought.transaction);
        expect((await received[id]()) - before, "two purchases").to.equal(2000n);
        await client.close();
      });
});
