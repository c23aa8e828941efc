import { readFile } from "node:fs/promises";
import { base58 } from "@scure/base";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { wrapFetchWithPayment } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import type { PaymentRequired } from "../../runtime/core/x402/x402.ts";
import { makeDirectory, ROOT } from "../core/set/served-directory.ts";
import { type LocalSeller, startLocalSandbox, startLocalSeller } from "../support/sellers/local-seller.ts";
import type { SandboxServer } from "../support/sellers/sandbox-server.ts";
import { createBuyer, json, receiptOf } from "../support/sellers/stock-buyer.ts";
import { stockFetchOf, toShopOf } from "./shop.ts";

const TEMPLATE = await readFile(`${ROOT}/runtime/cli/config/testnet-rails.yaml`, "utf8");
const BASE_SEPOLIA_USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

describe("a shop on test networks", () => {
  let sandbox: SandboxServer;
  let seller: LocalSeller;

  before(async () => {
    sandbox = await startLocalSandbox(await makeDirectory(toShopOf(TEMPLATE)));
    const { description } = sandbox;
    const { rpc, facilitator, buyer } = description;
    // The embedded facilitator stands in for the public one.
    const dir = await makeDirectory(
      toShopOf(TEMPLATE.replace('url: "https://x402.org/facilitator"', "variable: X402_ORG_URL")),
    );
    const env = {
      BASE_PAYMENT_ADDRESS: privateKeyToAddress(generatePrivateKey()),
      BASE_RPC_URL: rpc["base-sepolia"] ?? "",
      SOLANA_RPC_URL: rpc["solana-devnet"] ?? "",
      SOLANA_PAYMENT_ADDRESS: buyer.solana.address, // It has an account for the token.
      X402_ORG_URL: facilitator,
    };
    seller = await startLocalSeller({ sandbox: { env, description }, set: await loadSet(dir) });
  });
  after(async () => {
    await seller?.stop();
    await sandbox?.stop();
  });

  it("says so in every challenge, document and page", async () => {
    const challenge = await fetch(`${seller.url}/v1/toss`, json({}));
    const body = (await challenge.json()) as PaymentRequired;
    expect(body.resource.description).to.match(/^Test money: /);
    const header = Buffer.from(challenge.headers.get("payment-required") ?? "", "base64").toString();
    expect((JSON.parse(header) as PaymentRequired).resource.description).to.match(/^Test money: /);
    for (const path of ["/openapi.json", "/llms.txt", "/.well-known/x402", "/.well-known/agent-card.json", "/"]) {
      const text = await (await fetch(seller.url + path)).text();
      expect(text.split("Test money: ").length, path).to.be.greaterThan(1);
    }
    for (const path of ["/", "/docs", "/nowhere"]) {
      const page = await (await fetch(seller.url + path, { headers: { accept: "text/html" } })).text();
      expect(page, path).to.include("<strong>Test money.</strong>");
    }
    const call = { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} };
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const tools = await fetch(`${seller.url}/mcp`, { method: "POST", headers, body: JSON.stringify(call) });
    expect(await tools.text()).to.include("Test money: ");
    const catalogue = (await (await fetch(seller.url)).json()) as { rails: { testnet?: boolean }[] };
    expect(catalogue.rails.map(({ testnet }) => testnet)).to.deep.equal([true, true]);
  });

  it("is bought from without any key of its own", async () => {
    const pay = await stockFetchOf(sandbox.description, BASE_SEPOLIA_USDC);
    const response = await pay(`${seller.url}/v1/toss`, json({}));
    expect(response.status).to.equal(200);
    expect(receiptOf(response)).to.include({ network: "eip155:84532", success: true });
  });

  it("is sold from by the sandbox, too, whose chains have the numbers and names of the test networks", async () => {
    const { buyer, rpc } = sandbox.description;
    const signer = await createKeyPairSignerFromBytes(base58.decode(buyer.solana.secret_key));
    const client = await createBuyer(sandbox);
    client.register("solana:*", new ExactSvmScheme(signer, { rpcUrl: rpc["solana-devnet"] ?? "" }));
    client.registerPolicy((_version, offers) => offers.filter(({ network }) => network.startsWith("solana:")));
    const response = await wrapFetchWithPayment(fetch, client)(`${sandbox.url}/v1/toss`, json({}));
    expect(response.status, await response.clone().text()).to.equal(200);
    expect(receiptOf(response).network).to.equal("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1");
  });
});
