import { expect } from "chai";
import { toCode } from "../../runtime/surfaces/pages/highlight.ts";
import { html, toProse } from "../../runtime/surfaces/pages/html.ts";
import { toSnippets } from "../../runtime/surfaces/pages/snippets.ts";
import { type DescribedField, toFields } from "../../runtime/surfaces/schema/fields.ts";
import { BASE_URL, type Shown, showSet } from "./support/fixture-set.ts";

describe("a field for people", () => {
  const fieldOf = (schema: object): DescribedField => toFields({ properties: { it: schema } })[0] as DescribedField;

  it("has a type in words", () => {
    const types: readonly [schema: object, type: string][] = [
      [{ type: "integer" }, "integer"],
      [{ type: ["string", "null"] }, "string or null"],
      [{ type: "array", items: { type: "integer" } }, "list of integer"],
      [{ type: "array" }, "list"],
      [{ anyOf: [{ type: "object" }, { type: "null" }] }, "object or null"],
      [{ const: "x" }, "string"],
      [{ enum: ["a", 1, null] }, "string or number or null"],
      [{ description: "Anything." }, "any JSON"],
    ];
    for (const [schema, type] of types) expect(fieldOf(schema).type, JSON.stringify(schema)).to.equal(type);
  });

  it("has its rules in words", () => {
    const rules: readonly [schema: object, rules: string[]][] = [
      [{ minimum: 1, maximum: 100, default: 1 }, ["1 to 100", "default 1"]],
      [{ minLength: 1, maxLength: 500 }, ["1 to 500 characters"]],
      [{ maxLength: 200, default: null }, ["at most 200 characters"]],
      [{ minItems: 2, maxItems: 2 }, ["exactly 2 items"]],
      [{ minLength: 1 }, ["at least 1 character"]],
      [{ minItems: 0, maxItems: 1 }, ["0 to 1 item"]],
      [{ minimum: -9007199254740991, maximum: 9007199254740991 }, []],
      [{ minimum: 0 }, ["at least 0"]],
      [{ exclusiveMinimum: 0, multipleOf: 0.25 }, ["more than 0", "a multiple of 0.25"]],
      [{ exclusiveMaximum: 10 }, ["less than 10"]],
      [{ format: "date-time" }, ["format date-time"]],
      [{ enum: ["a", "b", null] }, ["one of a, b"]],
      [{ const: "eip191" }, ["always eip191"]],
      [{ pattern: "^x" }, ["matches ^x"]],
      [{ default: false }, ["default false"]],
    ];
    for (const [schema, expected] of rules)
      expect(fieldOf(schema).rules, JSON.stringify(schema)).to.deep.equal(expected);
  });

  it("comes with those that are nested in it, through lists and beside null", () => {
    const inner = { type: "object", properties: { tx: { type: "string" } }, required: ["tx"] };
    const fields = toFields({
      properties: {
        base: { anyOf: [inner, { type: "null" }] },
        errors: { type: "array", items: inner },
      },
      required: ["base"],
    });
    expect(fields.map(({ name, isRequired }) => [name, isRequired])).to.deep.equal([
      ["base", true],
      ["base.tx", true],
      ["errors", false],
      ["errors[].tx", true],
    ]);
  });

  it("ends where a schema that contains itself would not", () => {
    const node: Record<string, unknown> = { type: "object" };
    node.properties = { next: node };
    expect(toFields(node).map(({ name }) => name)).to.deep.equal(["next", "next.next", "next.next.next"]);
  });
});

describe("a piece of a page", () => {
  it("escapes every text, and only texts", () => {
    const piece = html`<b title="${'"'}">${["<i>", html`<i>`, 1, undefined, false]}</b>`;
    expect(piece.markup).to.equal('<b title="&quot;">&lt;i&gt;<i>1</b>');
  });

  it("shows words between backticks as code", () => {
    expect(toProse("not below `<low>`.").markup).to.equal("not below <code>&lt;low&gt;</code>.");
  });
});

describe("a snippet", () => {
  let shown: Shown;
  before(async () => {
    shown = await showSet();
  });
  const codeOf = (id: string, title: string): string =>
    toSnippets(shown.service(id), shown.set.site, BASE_URL).find((one) => one.title === title)?.code ?? "";

  it("asks with curl, whatever stands in path, query and body", () => {
    expect(codeOf("table", "curl")).to.equal(`curl -i '${BASE_URL}/v1/tables/7?full=true'`);
    expect(codeOf("essay", "curl")).to.include(`'${BASE_URL}/v1/essays/en'`).and.include(`'{"subject":"telephones"}'`);
  });

  it("repeats in a query the name of a list, for each of its items", () => {
    const service = shown.service("table");
    const manifest = { ...service.manifest, examples: [{ input: { name: 7, seats: ["a", "b,c"], note: null } }] };
    const [curl] = toSnippets({ ...service, manifest }, shown.set.site, BASE_URL);
    expect(curl?.code).to.equal(`curl -i '${BASE_URL}/v1/tables/7?seats=a&seats=b%2Cc'`);
  });

  it("is one word of a shell where it must be", () => {
    const service = shown.service("toss");
    const manifest = { ...service.manifest, examples: [{ input: { label: "it's" } }] };
    const [curl] = toSnippets({ ...service, manifest }, shown.set.site, BASE_URL);
    expect(curl?.code).to.include(`-d '{"label":"it'\\''s"}'`);
  });

  it("raises the limits of stock clients for what costs more than a dollar, and only for that", () => {
    expect(codeOf("essay", "fetch")).to.include('maxAmountPerPayment: "$1.77"');
    expect(codeOf("essay", "CLI")).to.match(/--max-usd 1\.77$/);
    expect(codeOf("toss", "fetch")).not.to.include("maxAmountPerPayment");
    expect(codeOf("toss", "CLI")).not.to.include("--max-usd");
  });

  it("configures an MCP client", () => {
    expect(JSON.parse(codeOf("toss", "MCP"))).to.deep.equal({
      mcpServers: { "corner-shop": { type: "http", url: `${BASE_URL}/mcp` } },
    });
  });

  it("is not about paying where nothing is paid", () => {
    expect(toSnippets(shown.service("table"), shown.set.site, BASE_URL).map(({ title }) => title)).to.deep.equal([
      "curl",
      "MCP",
      "CLI",
    ]);
  });
});

describe("highlighted code", () => {
  const plain = (markup: string): string =>
    markup
      .replaceAll(/<[^>]+>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&#39;", "'")
      .replaceAll("&amp;", "&");

  it("is the same code, with its parts marked", async () => {
    const shown = await showSet();
    for (const service of shown.services)
      for (const { code, language } of toSnippets(service, shown.set.site, BASE_URL))
        expect(plain(toCode(code, language).markup)).to.equal(code);
    const { markup } = toCode("# a 'comment'\nprint(\"<b>\", 12) # 3", "python");
    expect(markup).to.include('<span class="c"># a &#39;comment&#39;</span>');
    expect(markup).to.include('<span class="k">print</span>(<span class="s">&quot;&lt;b&gt;&quot;</span>');
    expect(markup).to.include('<span class="n">12</span>) <span class="c"># 3</span>');
  });

  it("takes a shell's quotes across lines, and no # within a word for a comment", () => {
    const { markup } = toCode("curl -i 'http://x/#y\nz' # end", "sh");
    expect(markup).to.include('<span class="s">&#39;http://x/#y\nz&#39;</span>');
    expect(markup).to.include('<span class="k">-i</span>').and.include('<span class="c"># end</span>');
  });
});
