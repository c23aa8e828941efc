import { expect } from "chai";
import type { BookTally } from "../../../runtime/core/books/events.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { edit, TOSS } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";

const OWN = `0x${"ab".repeat(20)}`;
const BUYER = `0x${"cd".repeat(20)}`;
const MINE = String(TOSS["manifests/toss.yaml"]).replaceAll("/toss", "/mine").replace("id: toss", "id: mine");
const SHOP = {
  ...edit(TOSS, "manifests/_site.yaml", "limits:\n", `books: { own: ["${OWN}"] }\nlimits:\n`),
  "manifests/mine.yaml": MINE.replace(/price: .*/, "sign_in: true"),
};
const COUNTED: readonly Omit<BookTally, "minute" | "door">[] = [
  { service: "toss", rail: "", what: "challenge", count: 9 },
  { service: "toss", rail: "base", what: "attempt", count: 6 },
  { service: "toss", rail: "base", what: "result", count: 3 },
  { service: "toss", rail: "base", what: "failed:upstream-failed", count: 1 },
  { service: "toss", rail: "base", what: "failed:invalid-input", count: 2 },
  { service: "gratis", rail: "", what: "free", count: 40 },
  { service: "gratis", rail: "", what: "failed:invalid-input", count: 500 },
  { service: "gratis", rail: "", what: "failed:internal", count: 7 },
  { service: "mine", rail: "", what: "challenge", count: 100 },
];

describe("the figures of the seller's pages", () => {
  let shop: OperatedShop;
  const now = Date.now();
  before(async () => {
    shop = await openOperatedShop(SHOP);
    const store = await openStore({ dataDir: shop.dataDir });
    const bought = { at: now, service: "toss", amount: "10000", usd: "0.01" };
    const paidFirst = { begun: now - 30, reserved: now - 20, verified: now - 10, recorded: now - 5 };
    for (const sale of [
      toSale({ ...bought, payer: BUYER, times: { ...paidFirst, worked: now - 6 } }),
      toSale({ ...bought, payer: BUYER, job: "owed", times: paidFirst }),
      toSale({ ...bought, payer: OWN }),
    ])
      await store.enter(sale, { key: sale.id, value: 1 });
    const minute = Math.floor(now / 60_000);
    await store.count(COUNTED.map((one) => ({ ...one, minute, door: "rest" })));
    await store.close();
  });
  after(() => shop.close());

  const read = async (path: string): Promise<string> => (await shop.admin(path)).text();
  const month = new Date(now).toISOString().slice(0, 7);

  it("are without own wallets where it says so, and with them where it says so", async () => {
    const today = await read("/");
    const tile = (name: string): string | undefined => new RegExp(`<dt>${name}</dt><dd>([^<]*)`).exec(today)?.[1];
    expect(["Revenue", "Sales", "Buyers", "Calls", "Failed calls"].map(tile)).to.deep.equal([
      "$0.02",
      "2",
      "1",
      "662",
      "8",
    ]);
    expect(today)
      .to.include("Payments of your own wallets: 1. Revenue, sales, buyers and what was paid back are without them;")
      .and.to.include("calls, failures, what is owed and fees are not.");
    expect(today, "dollars in the tile, a number in the table").to.match(
      /<dt>Paid back<\/dt><dd>\$0<[\s\S]*<th scope="col">Refunds</,
    );
  });

  it("say of services, too, what own wallets paid", async () => {
    for (const path of ["/services", "/services/toss"])
      expect(await read(path), path).to.include(
        "Payments of your own wallets: 1. Revenue, sales and refunds are without",
      );
    expect(await read("/services/gratis")).not.to.include("own wallets");
  });

  it("have every service that was called in a month, so that its calls add up", async () => {
    const statement = await read(`/?month=${month}`);
    const calls = [...statement.matchAll(/">(toss|gratis|mine)<\/a><\/td><td>[^<]*<\/td><td>(\d+)</g)];
    expect(calls.map(([, id, count]) => [id, count])).to.deep.equal([
      ["toss", "15"],
      ["mine", "100"],
      ["gratis", "547"],
    ]);
  });

  it("lose of the payments that were not refused those that bought nothing, and no call without a payment", async () => {
    for (const path of ["/funnel", "/services/toss"])
      expect(await read(path), path).to.include("0 left before the money moved, 2 were turned away, 1 failed");
    expect(await read("/funnel"), "its reasons are those of all calls").to.match(/<code>invalid-input<.*<td>502</);
  });

  it("do not say that a price was told where a wallet was only asked to sign in", async () => {
    const funnel = await read("/funnel");
    expect(funnel).to.match(/Told the price<\/span><strong>9</);
    expect(funnel, "by rail").to.match(/none named yet<\/td><td>9</);
    expect(await read("/services/mine")).to.match(/Told the price<\/span><strong>0</);
    expect(await read("/services")).to.match(/mine<\/a><\/td><td>free<\/td><td>100<\/td>(<td>[^<]*<\/td>){3}<td>–</);
  });

  it("call no sale a call, and no result what is still owed", async () => {
    expect(await read("/buyers"))
      .to.include('<th scope="col">Sales</th>')
      .and.not.to.include(">Calls</th>");
    expect(await read("/buyers"), "what its calls met, of both kinds").to.include(">Refused or failed</th>");
    const sales = await read("/sales");
    const ids = [...sales.matchAll(/href="(\/sales\/sale_[0-9a-f]+)"/g)].map(([, path]) => path as string);
    const lives = await Promise.all(ids.map(read));
    expect(lives.filter((life) => life.includes("The result was put on record"))).to.have.length(1);
    const [owed, ...others] = lives.filter((life) => life.includes("What is owed was put on record"));
    expect(owed).to.include("owed</code>");
    expect(others).to.deep.equal([]);
  });

  it("draw their steps alike in every browser, as long as their counts", async () => {
    const bars = (await read("/funnel")).matchAll(/<strong>(\d+)<\/strong>.*<rect class="part" width="([\d.]+)"/g);
    const shares = [...bars].map(([, count, width]) => [Number(count), Math.round((Number(width) * 9) / 100)]);
    expect(shares).to.have.lengthOf(5);
    for (const [count, drawn] of shares) expect(drawn).to.equal(count);
  });
});
