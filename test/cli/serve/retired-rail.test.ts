import { expect } from "chai";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { type Files, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { rail } from "../../support/chains/chains.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { askRpc, json, receiptOf, signFor, stockClient } from "../../support/sellers/stock-buyer.ts";
import type { Loose } from "../../surfaces/support/fixture-set.ts";

const SITE = TOSS["manifests/_site.yaml"] as string;
const GIFT = (TOSS["manifests/toss.yaml"] as string).replaceAll("toss\n", "gift\n");
/** The first set: on three rails, with a service that lets wallets sign in. */
const ALL: Files = {
  ...TOSS,
  "manifests/gift.yaml": `${GIFT.replace("handler: toss.gift", "handler: toss.toss")}free: { calls: 1, per: day }\n`,
};
/** The set with the rail on Solana alone. */
const SOLANA: Files = {
  ...ALL,
  "manifests/_site.yaml": SITE.replace(/ {2}- id: base\n.*(?= {2}- id: solana)/s, "").replace(
    / {2}- id: polygon\n.*(?=limits:)/s,
    "",
  ),
};

describe("rails that a live change removes", function () {
  this.timeout(120_000);
  let shop: OperatedShop;
  /** The headers of payments that were signed for offers of the first set, and one for a tool. */
  let quoted: Readonly<Record<"base" | "again" | "late" | "polygon" | "closed", Readonly<Record<string, string>>>>;
  let tool: object;

  const post = (headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${shop.running.url}/v1/toss`, json({}, headers));
  const callTool = (meta: object = {}): Promise<Loose> =>
    askRpc(`${shop.running.url}/mcp`, "tools/call", { name: "toss", _meta: meta });
  const sign = async (id: string): Promise<Readonly<Record<string, string>>> =>
    signFor(await stockClient(shop.sandbox, id), await post());
  const networks = async (): Promise<readonly string[]> =>
    ((await (await post()).json()) as Loose).accepts.map(({ network }: Loose) => network);

  before(async () => {
    shop = await openOperatedShop(ALL);
    const [base, again, late, polygon, closed] = await Promise.all(
      ["base", "base", "base", "polygon", "polygon"].map(sign),
    );
    quoted = { base: base!, again: again!, late: late!, polygon: polygon!, closed: closed! };
    const { structuredContent } = await callTool();
    const client = await stockClient(shop.sandbox, "base");
    tool = { "x402/payment": await client.createPaymentPayload(structuredContent) };
    await writeFiles(shop.dir, SOLANA);
    await shop.running.changes.apply("test");
  });
  after(() => shop.close());

  it("are offered to nobody, and named nowhere", async () => {
    expect(await networks()).to.deep.equal([rail("solana").network]);
    const ready = (await (await fetch(`${shop.running.url}/ready`)).json()) as ReadyReport;
    expect(ready.rails.map(({ id }) => id)).to.deep.equal(["solana"]);
    for (const path of ["/", "/openapi.json", "/llms.txt", "/docs/toss"])
      expect(await (await fetch(shop.running.url + path)).text(), path)
        .not.to.include("USDC on Base")
        .and.not.include("JPYC");
  });

  it("are networks on which wallets can still sign in, to fetch what they have bought", async () => {
    const { extensions } = (await (await fetch(`${shop.running.url}/v1/gift`, { method: "POST" })).json()) as Loose;
    const chains = extensions["sign-in-with-x"].supportedChains.map(({ chainId }: Loose) => chainId);
    expect(chains).to.have.members(["solana", "base", "polygon"].map((id) => rail(id).network));
  });

  it("are paid what they have offered, by their facilitators, and settled once", async () => {
    for (const id of ["base", "polygon"] as const) {
      const bought = await post(quoted[id]);
      expect([id, bought.status]).to.deep.equal([id, 200]);
      const { success, network, transaction } = receiptOf(bought);
      expect([success, network]).to.deep.equal([true, rail(id).network]);
      const again = await post(quoted[id]);
      expect([again.status, receiptOf(again).transaction]).to.deep.equal([200, transaction]);
      expect(await again.text()).to.equal(await bought.text());
    }
  });

  it("are paid as a tool, too", async () => {
    const { _meta: meta } = await callTool(tool);
    expect(meta["x402/payment-response"]).to.include({ success: true, network: rail("base").network });
  });

  it("are remembered by the next process", async () => {
    await shop.restart();
    const bought = await post(quoted.again);
    expect([bought.status, receiptOf(bought).network]).to.deep.equal([200, rail("base").network]);
  });

  it("are refused, uncharged, when their variables are unset, and what was bought is still delivered", async () => {
    await shop.restart({ POLYGON_RPC_URL: "" });
    expect((await post(quoted.polygon)).status).to.equal(200);
    const refused = await post(quoted.closed);
    expect(refused.status).to.equal(402);
    expect(((await refused.json()) as Loose).error).to.match(/^unsupported_network: accepted\.network is eip155:137/);
    expect((await post(quoted.late)).status).to.equal(200);
  });

  it("are offered again when they are there again", async () => {
    await writeFiles(shop.dir, ALL);
    await shop.running.changes.apply("test");
    expect(await networks()).to.include(rail("base").network);
  });
});
