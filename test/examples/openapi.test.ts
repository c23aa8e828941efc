import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { importAll } from "../cli/import/shop.ts";
import { makeDirectory, ROOT } from "../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../support/sellers/proxy-shop.ts";
import { siteOf } from "../support/sellers/site-of.ts";

const RATES = { base: "USD", date: "2026-11-20", rates: { EUR: 0.91 } };

/** A shop that has imported somebody's OpenAPI document, whose API is at the URL. */
async function importRates(url: string): Promise<string> {
  const dir = await makeDirectory({ "manifests/_site.yaml": siteOf(`{ id: other, title: Other, url: "${url}" }`) });
  const document = await readFile(join(ROOT, "test/fixtures/openapi/rates.yaml"), "utf8");
  await writeFile(join(dir, "rates.yaml"), document.replace("https://rates.example.com/v1/", `${url}/v1/`));
  await importAll(dir, join(dir, "rates.yaml"), { price: "0.005" });
  return dir;
}

describe("an API that was imported from its OpenAPI document", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({ files: importRates });
  });
  after(() => shop.close());

  it("is sold over REST, and asked as its document says", async () => {
    shop.source.script(JSON.stringify({ ...RATES, added: "later" }));
    const response = await shop.buy("/v1/rates/get-rates", {
      date: "2026-11-20",
      base: "USD",
      symbols: ["EUR", "JPY"],
    });
    expect(await response.json()).to.deep.equal(RATES);
    const { method, path } = shop.source.asked.at(-1) ?? {};
    expect([method, path]).to.deep.equal(["GET", "/v1/rates/2026-11-20?base=USD&symbols=EUR,JPY"]);
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is sold by its GET form, and gives a list a field of its own", async () => {
    shop.source.script('["EUR","USD"]');
    const response = await shop.buy("/v1/rates/list-currencies");
    expect(await response.json()).to.deep.equal({ items: ["EUR", "USD"] });
  });

  it("charges nobody when the API fails, or answers something else than its document says", async () => {
    const before = shop.rail.moved.size;
    for (const [line, status] of [
      [500, 502],
      [{ status: 404, body: '{"message":"no such day"}' }, 404],
      ['{"base":"USD"}', 502],
    ] as const) {
      shop.source.script(line);
      const response = await shop.buy("/v1/rates/get-rates", { date: "2026-11-20" });
      expect(response.status).to.equal(status);
    }
    expect(shop.rail.moved.size).to.equal(before);
  });
});
