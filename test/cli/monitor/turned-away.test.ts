import { expect } from "chai";
import { edit, TOSS } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json } from "../../support/sellers/stock-buyer.ts";

const SITE = "manifests/_site.yaml";
const RARELY = edit(TOSS, SITE, "unpaid_per_minute: 600", "unpaid_per_minute: 1");
const LIMITED = edit(RARELY, SITE, "unpaid_burst: 300", "unpaid_burst: 3");

describe("callers whose address has asked too often", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop(LIMITED);
  });
  after(() => shop.close());

  it("are in the funnel, by door, and by service where it is known", async () => {
    const ask = async (path: string, body: object): Promise<number> =>
      (await fetch(shop.running.url + path, json(body))).status;
    const asked: number[] = [];
    for (let call = 0; call < 5; call += 1) asked.push(await ask("/v1/toss", {}));
    expect(asked).to.deep.equal([402, 402, 402, 429, 429]);
    expect(await ask("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })).to.equal(429);
    expect(await ask("/v1/a2a", { jsonrpc: "2.0", id: 1, method: "message/send", params: {} })).to.equal(429);
    const funnel = await eventually(
      async () => (await shop.admin("/funnel")).text(),
      (page) => page.includes("<code>rate-limited</code></td><td>4<"),
      200,
    );
    for (const [name, told, turnedAway] of [
      ["toss", 3, 2],
      ["rest", 3, 2],
      ["mcp", 0, 1],
      ["a2a", 0, 1],
    ])
      expect(funnel).to.match(row(name, told, 0, 0, 0, turnedAway, 0, 0));
    const services = await (await shop.admin("/services")).text();
    expect(services, "no service without a name, whose page would be nowhere").not.to.include('href="/services/?');
    expect(services).to.match(row("none named yet", "–", 2, 0));
  });
});

const row = (...cells: readonly (string | number | undefined)[]): RegExp =>
  new RegExp(cells.map((cell) => `<td>${cell}</td>`).join("\\s*"));
