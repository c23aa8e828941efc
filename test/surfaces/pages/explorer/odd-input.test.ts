import { expect } from "chai";
import type { Page } from "playwright-core";
import { edit, TOSS } from "../../../core/set/served-directory.ts";
import { withBrowser } from "../../../support/programs.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { openVisits } from "./support/browser.ts";

const LONG = "a_name_that_is_much_longer_than_a_phone_is_wide_and_has_no_place_to_break";
const FIELDS = {
  place: { type: "string" },
  tags: { type: "array", items: { type: "string" } },
  constructor: { type: "string" },
  count: { type: "integer" },
  ratio: { type: "number" },
  size: { type: ["integer", "null"], enum: [1, 2, 4, null], default: 2 },
  "with blank": { type: "integer", minimum: 1 },
  [LONG]: { type: "string" },
  year: {
    anyOf: [
      { type: "string", format: "date" },
      { type: "string", pattern: "^\\d{4}$" },
    ],
  },
  query: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] },
  note: { anyOf: [{ type: "string" }, { type: "object" }, { type: "null" }] },
  limit: { type: ["integer", "string"] },
  lines: { type: "string" },
  unit: { type: "string", enum: ["kg", "kg  net", " t"] },
  anything: true,
  grid: { type: "array", items: { type: "array", items: { type: "integer" } } },
};
const VISIT = `id: visit
title: A visit
description: Says what it was asked in a Café.
route: GET /v1/visit/{place}/here
price: "0.01"
handler: visit.visit
input: { type: object, properties: ${JSON.stringify(FIELDS)}, required: [place] }
output: { type: object, properties: { got: { type: object, additionalProperties: true } }, required: [got] }
tags: [odd]
examples:
  - input: { place: home, tags: [a, "b,c"] }
  - input: { place: home, lines: "one\\ntwo" }
`;
const PLUGIN = `import { definePlugin } from "#plugin";
export default definePlugin("visit", () => ({ visit: (got) => ({ got }) }));
`;

withBrowser.describe("the form of a service that is asked by GET", () => {
  const visit = openVisits();
  let shop: OperatedShop;
  let page: Page;

  before(async () => {
    // No longer title is allowed.
    const [title = ""] = /^title: .*/m.exec(TOSS["manifests/_site.yaml"] ?? "") ?? [];
    const named = edit(TOSS, "manifests/_site.yaml", title, `title: ${"W".repeat(32)}`);
    const files = { ...named, "manifests/visit.yaml": VISIT, "plugins/visit.ts": PLUGIN };
    shop = await openOperatedShop(files);
  });
  after(() => shop.close());
  beforeEach(async () => {
    page = await visit(`${shop.running.url}/docs/visit`);
  });

  const field = (name: string) => page.locator(`[data-field="${name}"]`);
  const submit = () => page.locator("form.try button[type=submit]").click();
  const input = async (): Promise<unknown> => JSON.parse(await page.locator("textarea.input").inputValue());

  it("sends each item of a list by itself", async () => {
    const asked = page.waitForRequest(/\/here/);
    await submit();
    expect(new URL((await asked).url()).search).to.equal("?tags=a&tags=b%2Cc");
  });

  it("sends a list of lists as JSON", async () => {
    await page.locator(".raw > summary").click();
    await page.locator("textarea.input").fill('{"place": "home", "grid": [[1, 2]], "tags": ["a"]}');
    const asked = page.waitForRequest(/\/here/);
    await submit();
    const { searchParams } = new URL((await asked).url());
    expect([...searchParams]).to.deep.equal([
      ["grid", "[[1,2]]"],
      ["tags", "a"],
    ]);
  });

  it("leaves empty what the input does not have, whatever its name", async () => {
    expect(await field("constructor").inputValue()).to.equal("");
  });

  it("sends what its fields show when one of them is changed beside broken JSON", async () => {
    await page.locator(".raw > summary").click();
    await page.locator("textarea.input").fill('{"place": "home", ');
    await field("count").fill("3");
    expect(await input()).to.deep.equal({ place: "home", tags: ["a", "b,c"], count: 3 });
  });

  it("sends as text what is of no other type that the field takes", async () => {
    for (const [name, text, sent] of [
      ["query", "7203", "7203"],
      ["query", "true", "true"],
      ["query", '["7203"]', ["7203"]],
      ["note", "null", "null"],
      ["note", '{"a": 1}', { a: 1 }],
      ["limit", "5", 5],
      ["limit", "5.5", "5.5"],
    ] as const) {
      await field(name).fill(text);
      expect(await input()).to.deep.include({ [name]: sent });
    }
  });

  it("does not round a number", async () => {
    await field("count").fill("9007199254740993");
    await field("ratio").fill("1e300");
    expect(await input()).to.include({ count: "9007199254740993", ratio: 1e300 });
    await field("ratio").fill("1e400");
    expect(await input()).to.include({ ratio: "1e400" });
    await field("tags").fill("[9007199254740993]");
    expect(await input()).to.include({ tags: "[9007199254740993]" });
  });

  it("sends no JSON in which a number would become another one", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.locator(".raw > summary").click();
    for (const [number, sent] of [
      ["9007199254740993", "9007199254740992"],
      ["1e400", "null"],
    ]) {
      await page.locator("textarea.input").fill(`{"place": "home", "ratio": ${number}}`);
      await submit();
      const said = `The input has ${number}, which would be sent as ${sent}.`;
      expect(await page.locator(".status").innerText()).to.equal(said);
    }
    expect(asked).to.deep.equal([]);
  });

  it("sends nothing that an address would hold as something else, or not at all", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.locator(".raw > summary").click();
    for (const [why, given] of [
      ["has half of a character", { lines: "\ud800", tags: ["a", "b\udc00"], place: "\ud800" }],
      ["is an empty list, or has null in it", { tags: [], query: ["a", null] }],
      ["is a part of the address", { place: { at: 1 } }],
    ] as const)
      for (const [name, broken] of Object.entries(given)) {
        await page.locator("textarea.input").fill(JSON.stringify({ place: "home", [name]: broken }));
        await submit();
        expect(await page.locator(".status").innerText()).to.include(`${name} ${why}`);
      }
    expect(asked).to.deep.equal([]);
  });

  it("sends digits as a text where every kind of text is allowed, and nothing else", async () => {
    await field("year").fill("2024");
    expect(await input()).to.include({ year: "2024" });
  });

  it("has a field for a value of any kind", async () => {
    await field("anything").fill("[1]");
    expect(await input()).to.deep.include({ anything: [1] });
  });

  it("shows the lines of an example", async () => {
    await page.locator("select.example").selectOption("2");
    expect(await field("lines").inputValue()).to.equal("one\ntwo");
  });

  it("says which example it has when Back leads to it", async () => {
    await page.locator(".example").selectOption("2");
    await page.goto(`${shop.running.url}/docs`);
    await page.goBack();
    expect(await page.locator(".example").inputValue()).to.equal(await page.locator("textarea.input").inputValue());
  });

  it("shows what it sends when Back leads to it in Safari, which resets what is not to be completed", async () => {
    await field("place").fill("away");
    await page.locator("#_filter").fill("visit");
    await page.evaluate(`dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
      for (const each of document.querySelectorAll("input[autocomplete=off]")) each.value = each.defaultValue;`);
    expect(await field("place").inputValue()).to.equal("away");
    expect(await page.locator("#_filter").inputValue()).to.equal("visit");
  });

  it("lets choose among numbers, and sends a number", async () => {
    expect(await field("size").locator("option").allInnerTexts()).to.deep.equal(["–", "1", "2", "4"]);
    await field("size").selectOption("2");
    expect(await input()).to.include({ size: 2 });
  });

  it("lets choose among texts, and sends each with all of its blanks", async () => {
    for (const unit of ["kg  net", " t"]) {
      await field("unit").selectOption(unit);
      expect(await input()).to.include({ unit });
      await page.locator("textarea.input").dispatchEvent("input");
      expect(await field("unit").inputValue()).to.equal(unit);
    }
  });

  it("names the field whose value would lead to another address, and sends nothing", async () => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    for (const value of ["", ".", ".."]) {
      await field("place").fill("home");
      await field("count").focus();
      await field("place").fill(value);
      await submit();
      expect(await page.locator(".status").innerText(), value).to.include("place is a part of the address");
      expect(await page.evaluate("document.activeElement.dataset.field"), value).to.equal("place");
    }
    expect(asked).to.deep.equal([]);
  });

  it("says the rules of a field with its name, and which one was at fault", async () => {
    const rules = async (name: string): Promise<string> => {
      const id = await field(name).getAttribute("aria-describedby");
      return page.locator(`[id="${id}"]`).innerText();
    };
    expect([await rules("size"), await rules("with blank")]).to.deep.equal(["default 2", "at least 1"]);
    const faulty = () => page.locator("[aria-invalid=true]").evaluateAll((all) => all.map((one) => one.id));
    const detail = [{ loc: ["query", "count"], msg: "Input should be a valid integer", type: "int_parsing" }];
    await page.route("**/here**", (route) => route.fulfill({ status: 422, json: { detail } }));
    await submit();
    await page.locator(".answer.bad").waitFor();
    expect(await faulty()).to.deep.equal(["_visit-field-count"]);
    await page.unrouteAll();
    await submit();
    await page.getByRole("heading", { name: "402 Payment Required" }).waitFor();
    expect(await faulty()).to.deep.equal([]);
  });

  it("is found by words in any case and with any accents", async () => {
    for (const words of ["cafe", "CAF\u00c9", "cafe\u0301"]) {
      await page.getByLabel("Find a service").fill("");
      expect(await page.locator("#_count").innerText()).to.equal("2 services");
      await page.getByLabel("Find a service").fill(words);
      expect(await page.locator("#_count").innerText(), words).to.equal("1 of 2 services");
    }
  });

  it("fits a phone with the longest of names", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")).to.equal(
      0,
    );
  });
});
