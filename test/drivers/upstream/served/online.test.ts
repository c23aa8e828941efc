import { join } from "node:path";
import { expect } from "chai";
import { readConfig } from "../../../../runtime/cli/config/config.ts";
import { toSandboxSources } from "../../../../runtime/cli/sandbox/sources.ts";
import { loadSet } from "../../../../runtime/cli/set/load.ts";
import { sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { type LocalSeller, startLocalSeller } from "../../../support/sellers/local-seller.ts";
import { type SandboxServer, startSandboxServer } from "../../../support/sellers/sandbox-server.ts";
import { buyerFetch, json, type PayingFetch } from "../../../support/sellers/stock-buyer.ts";
import { type LlmServer, openLlmServer, say } from "../../../support/sources/llm-server.ts";
import { openRecordedSource, type RecordedSource } from "./support/recorded-source.ts";

const NOBODY = "http://127.0.0.1:9";
const ORIGINS = "x-payphone-upstreams";
const VITALIK = { wallet: "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045" };

describe("a sandbox with live sources", () => {
  let server: SandboxServer;
  let pay: PayingFetch;
  let coingecko: RecordedSource;
  let ethereum: RecordedSource;
  let model: LlmServer;
  before(async () => {
    [coingecko, ethereum] = await Promise.all([openRecordedSource("coingecko"), openRecordedSource("ethereum")]);
    model = await openLlmServer();
    server = await startSandboxServer(["--online"], {
      COINGECKO_URL: coingecko.url,
      ETHEREUM_RPC_URL: ethereum.url,
      BASE_RPC_URL: "",
      GOPLUS_URL: NOBODY,
      OFAC_SDN_URL: NOBODY,
      OPENCHAIN_URL: NOBODY,
      FOURBYTE_URL: NOBODY,
      LLM_BASE_URL: model.url,
      LLM_MODEL: "local",
    });
    pay = await buyerFetch(server);
  });
  after(async () => {
    await server?.stop();
    for (const one of [coingecko, ethereum, model]) await one?.close();
  });

  it("asks them, for play money, and says so in a header", async () => {
    const response = await buy("/v1/price/token", { symbol: "ETH" });
    expect(response.status).to.equal(200);
    expect(response.headers.get(ORIGINS)).to.equal("coingecko=live");
    expect(response.headers.has("payment-response")).to.equal(true);
    expect(coingecko.asked()).to.equal(1);
  });

  it("reads the chains that it has itself, unless it is told of a node", async () => {
    const tx_hash = "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060";
    const found = await buy("/v1/decode/tx", { chain: "ethereum", tx_hash });
    expect(found.status).to.equal(200);
    expect(found.headers.get(ORIGINS)).to.equal("base=embedded, ethereum=live, solana=embedded");
    expect((await buy("/v1/decode/tx", { chain: "base", tx_hash })).status).to.equal(404);
  });

  it("is as without a network where a source is not reached: provisional, or uncharged and named", async () => {
    const screened = await buy("/v1/screen", VITALIK);
    expect(screened.headers.get(ORIGINS)).to.equal("ofac=live, goplus=live");
    expect(await screened.json()).to.include({ partial: true, recommendation: "review" });
    const call = { chain: "ethereum", calldata_hex: "0x12345678" };
    const decoded = await buy("/v1/decode/calldata", call);
    expect(decoded.status).to.equal(502);
    expect(decoded.headers.has("payment-response")).to.equal(false);
    expect(((await decoded.json()) as { detail: string }).detail).to.match(/^Openchain could not be reached/);
  });

  it("asks the model that it is told of", async () => {
    model.behave(say({ roast: "Toast, at best.", target_summary: "A toast." }));
    const response = await buy("/v1/roast", { target: "a toast" });
    expect(response.headers.get(ORIGINS)).to.equal("llm=live");
    expect(await response.json()).to.deep.equal({ roast: "Toast, at best.", target_summary: "A toast." });
    expect(model.asked[0]?.body.model).to.equal("local");
  });

  const buy = (path: string, input: object): Promise<Response> => pay(server.url + path, json(input));
});

describe("a sandbox with recorded sources and a live model", () => {
  let sandbox: TestSandbox;
  let server: LocalSeller;
  let model: LlmServer;
  before(async () => {
    const set = await loadSet(join(import.meta.dirname, "../../../.."));
    model = await openLlmServer();
    sandbox = await sharedSandbox();
    const env = { LLM_BASE_URL: model.url, LLM_MODEL: "local" };
    const sources = toSandboxSources({ set, own: readConfig(env), sandbox, online: false });
    server = await startLocalSeller({ sandbox, set, env, sources });
  });
  after(async () => {
    await server?.stop();
    await model?.close();
  });

  it("asks the model what nobody has recorded, and says which is which", async () => {
    const pay = await buyerFetch(sandbox);
    model.behave(say({ roast: "Toast, at best.", target_summary: "A toast." }));
    const roasted = await pay(`${server.url}/v1/roast`, json({ target: "a toast" }));
    expect([roasted.status, roasted.headers.get(ORIGINS)]).to.deep.equal([200, "llm=live"]);
    const priced = await pay(`${server.url}/v1/price/token`, json({ symbol: "ETH" }));
    expect([priced.status, priced.headers.get(ORIGINS)]).to.deep.equal([200, "coingecko=recorded"]);
  });
});
