import { createServer } from "node:http";
import { base58 } from "@scure/base";
import { Keypair } from "@solana/web3.js";
import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import type { Env } from "../../../runtime/cli/config/reader.ts";
import { runPurchases } from "../../../runtime/cli/purchases/purchases.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { ROOT } from "../../core/set/served-directory.ts";

const BUYER = {
  BUYER_EVM_KEY: `0x${"11".repeat(32)}`,
  BUYER_SOLANA_KEY: base58.encode(Keypair.generate().secretKey),
};

/** A seller whose wallets sign in for these networks. It lists the network of each proof as a purchase. */
async function openSeller(
  networks: readonly string[],
  times: number,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(({ headers }, response) => {
    const proof = headers["sign-in-with-x"];
    const { chainId } = proof ? JSON.parse(Buffer.from(String(proof), "base64").toString()) : {};
    const uri = `http://${headers.host}`;
    const info = { domain: headers.host, uri, version: "1", nonce: "abcdefgh", issuedAt: "2026-11-22T08:00:00.000Z" };
    const supportedChains = networks.map((network) => ({ chainId: network, type: "eip191" }));
    const challenge = { x402Version: 2, accepts: [], extensions: { "sign-in-with-x": { info, supportedChains } } };
    response.writeHead(chainId ? 200 : 402, { "content-type": "application/json" });
    response.end(JSON.stringify(chainId ? { purchases: Array(times).fill({ id: chainId }) } : challenge));
  });
  return { url: await listenOnLoopback(server), close: () => closeServer(server) };
}

/** What the last run has written to standard error. */
let said = "";

async function list(networks: readonly string[], rail?: string, times = 1, env: Env = BUYER): Promise<unknown> {
  const seller = await openSeller(networks, times);
  said = "";
  let out = "";
  const terminal = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      said += text;
    },
    signal: new AbortController().signal,
  };
  try {
    await runPurchases(readConfig(env), { id: undefined, url: seller.url, rail, json: true, dir: ROOT }, terminal);
    return (JSON.parse(out) as { id: string }[]).map(({ id }) => id);
  } finally {
    await seller.close();
  }
}

describe("payphone purchases", () => {
  it("signs in with each key for a network that the seller takes, whatever else the buyer could pay on", async () => {
    expect(await list(["eip155:8453"])).to.deep.equal(["eip155:8453"]);
    expect(await list(["eip155:137", "eip155:8453"])).to.deep.equal(["eip155:8453"]);
    expect(await list(["eip155:137"])).to.deep.equal(["eip155:137"]);
    expect(await list(["eip155:137", "eip155:8453"], "polygon")).to.deep.equal(["eip155:137"]);
  });

  it("says where older purchases are when the list is full", async () => {
    expect(await list(["eip155:8453"], "base", 50)).to.have.length(50);
    expect(said).to.equal(
      "The newest 50 are listed. Older ones have lower numbers than eip155:8453 in the middle: payphone purchases <id>",
    );
    await list(["eip155:8453"], "base", 49);
    expect(said).to.equal("");
  });

  it("says for which networks it could have signed when the seller takes none of them", async () => {
    const refused = await list(["eip155:1"]).catch((error: unknown) => error);
    expect(refused).to.have.property(
      "message",
      "the seller lets no wallet of eip155:8453, solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp, eip155:137 sign in",
    );
  });

  it("names the rails that there are when it is told another one", async () => {
    const refused = await list(["eip155:8453"], "moon").catch((error: unknown) => error);
    const message = "there is no rail moon; use --rail base or --rail solana or --rail polygon";
    expect(refused).to.include({ code: "bad-request", message });
  });

  it("names the key that the wanted rail needs when it is not set", async () => {
    const { BUYER_EVM_KEY } = BUYER;
    const refused = await list(["eip155:8453"], "solana", 1, { BUYER_EVM_KEY }).catch((error: unknown) => error);
    const message = "there is no wallet to sign in with: set BUYER_SOLANA_KEY (or BUYER_SOLANA_KEY_FILE)";
    expect(refused).to.include({ code: "payment-required", message });
  });
});
