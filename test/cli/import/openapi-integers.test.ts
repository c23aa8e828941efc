import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { importAll, manifestOf, openShop, writeDocument } from "./shop.ts";

/** The last digit is lost in a number of JavaScript. */
const ID = "1234567890123456789";
const ROUNDED = Number(ID);
const LONG = { type: "integer", format: "int64" };
const BODY = { type: "object", required: ["id"], properties: { id: LONG, count: { type: "integer" } } };
const answered = { 200: { content: { "application/json": { schema: BODY, example: { id: ROUNDED } } } } };
const inQuery = (schema: object): object => ({ name: "id", in: "query", required: true, schema, example: ROUNDED });

describe("payphone import openapi, of an API whose integers have 64 bits", () => {
  let dir: string;
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      async files(url) {
        dir = await openShop({ "manifests/_site.yaml": siteOf(`{ id: other, title: Other, url: "${url}" }`) });
        const file = await writeDocument(
          dir,
          {
            look: { parameters: [inQuery(LONG)], responses: answered },
            page: { parameters: [inQuery({ ...LONG, maximum: 100 })], responses: answered },
            list: {
              parameters: [{ name: "ids", in: "query", schema: { type: "array", items: LONG } }],
              responses: {
                200: { content: { "application/json": { schema: { type: "number", format: "int64" } } } },
              },
            },
            pick: { parameters: [inQuery({ ...LONG, enum: [1, 2] })], responses: answered },
            make: {
              method: "post",
              requestBody: {
                required: true,
                content: { "application/json": { schema: BODY, example: { id: ROUNDED } } },
              },
              responses: answered,
            },
          },
          { servers: [{ url }] },
        );
        const { report, isPartial } = await importAll(dir, file, { upstream: "net" });
        expect(isPartial, report).to.equal(false);
        return dir;
      },
    });
  });
  after(() => shop.close());

  it("has examples with none that was rounded", async () => {
    for (const id of ["net_look", "net_page", "net_make"])
      expect(JSON.stringify(await manifestOf(dir, id)), id).to.not.contain(String(ROUNDED).slice(0, 16));
  });

  it("sells an answer with the digits of its integers, and asks for those of a parameter", async () => {
    shop.source.script(`{"id":${ID},"count":2}`);
    const path = String((await manifestOf(dir, "net_look")).route).replace("POST ", "");
    const bought = await shop.buy(path, { id: ID });
    expect([await bought.text(), shop.source.asked.at(-1)?.path]).to.deep.equal([
      `{"id":"${ID}","count":2}`,
      `/look?id=${ID}`,
    ]);
    expect((await shop.buy(path, { id: "12e3" })).status).to.equal(422);
  });

  it("asks for the digits in a list, and sells those of what the document calls a number of 64 bits", async () => {
    shop.source.script(ID);
    const path = String((await manifestOf(dir, "net_list")).route).replace("POST ", "");
    const bought = await shop.buy(path, { ids: [ID, 2] });
    expect([await bought.text(), shop.source.asked.at(-1)?.path]).to.deep.equal([
      `{"result":"${ID}"}`,
      `/list?ids=${ID}&ids=2`,
    ]);
    expect((await shop.buy(path, { ids: ["12e3"] })).status).to.equal(422);
  });

  it("takes numbers alone where the document names the values, or a largest one that is exact", async () => {
    for (const id of ["net_page", "net_pick"])
      expect((await manifestOf(dir, id)).input, id).to.have.nested.property("properties.id.type", "integer");
  });
});
