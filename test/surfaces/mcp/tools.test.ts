import { readFileSync } from "node:fs";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import type { ToolAnswer } from "../../../runtime/surfaces/mcp/methods.ts";
import { createServiceTools } from "../../../runtime/surfaces/mcp/tools.ts";
import type { McpVersion } from "../../../runtime/surfaces/mcp/versions.ts";
import { toDoorRequest } from "../../support/door-request.ts";
import { BASE_URL, ROOT, showSet } from "../support/fixture-set.ts";
import { GOLDEN, toGolden } from "./served/support/golden.ts";
import { type Loose, openStall, SCHEMAS, type Stall } from "./served/support/stall.ts";

const NAMES = ["roll", "echo", "seal", "free"];
const VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"];

describe("the MCP tools", () => {
  let stall: Stall;
  before(async () => {
    stall = await openStall();
  });
  after(() => stall.close());

  const list = async (version: string, params: object = {}): Promise<Loose> => {
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params };
    return (await stall.post(message, { "mcp-protocol-version": version })).body;
  };
  const roll = async (version = "2025-11-25"): Promise<Loose> => (await list(version)).result.tools[0];

  it("are the services, in the set's order, the free ones as well", async () => {
    for (const version of VERSIONS)
      expect((await list(version)).result.tools.map(({ name }: Loose) => name)).to.deep.equal(NAMES);
    const { body } = await stall.call("free", { low: 1, high: 6 }, { version: "2025-11-25" });
    expect(body.result).not.to.have.property("isError");
    expect(body.result).not.to.have.property("_meta");
  });

  it("are paid on the other rails of a site that has none in dollars", async () => {
    const { site } = stall.parts;
    const rails = site.rails.filter(({ currency }) => currency !== "usd");
    const mcp = createMcp({ ...stall.parts, site: { ...site, rails }, baseUrl: BASE_URL, loopback: false });
    const ask = async (method: string, params: object): Promise<Loose> => {
      const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      const { body } = await mcp.handle(toDoorRequest(text, { headers: { "content-type": "application/json" } }));
      return JSON.parse(body ?? "").result;
    };
    const { structuredContent, content } = await ask("tools/call", { name: "roll", arguments: { low: 1, high: 6 } });
    expect(structuredContent.accepts.map(({ network }: Loose) => network)).to.deep.equal(["eip155:137"]);
    const [{ title }] = rails as [Loose];
    expect(content[0].text).to.include(`in ${title}: sign one of`);
    const { tools } = await ask("tools/list", {});
    expect(tools[0].description).to.match(new RegExp(`x402 in ${title}\\.$`));
  });

  it("of this project fit 40 kB, and no input has a list of types", async () => {
    const { services, set } = await showSet(ROOT);
    const mcp = createMcp({
      ...stall.parts,
      schemas: set.schemas,
      site: set.site,
      services,
      baseUrl: BASE_URL,
      loopback: true,
    });
    for (const version of ["2026-07-28", ...VERSIONS]) {
      const headers = {
        "content-type": "application/json",
        host: "localhost",
        "mcp-protocol-version": version,
        "mcp-method": "tools/list",
      };
      const meta = { "io.modelcontextprotocol/clientCapabilities": {} };
      const _meta = { ...meta, "io.modelcontextprotocol/protocolVersion": version };
      const params = version === "2026-07-28" ? { _meta } : {};
      const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params });
      const { body = "" } = await mcp.handle(toDoorRequest(text, { headers }));
      expect(body.length, version).to.be.within(10_000, 40_000);
      const { tools } = JSON.parse(body).result;
      expect(tools.map(({ name }: Loose) => name)).to.include.members([
        "attest",
        "attest_verify",
        "ledger_report_status",
      ]);
      for (const { name, inputSchema } of tools) {
        const service = services.find(({ manifest }) => manifest.id === name);
        expect(JSON.stringify(inputSchema), name).not.to.include('"type":[');
        const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(inputSchema);
        for (const { input } of service?.manifest.examples ?? []) expect(validate(input), name).to.equal(true);
      }
    }
  });

  it("have the names of their services", async () => {
    const unknown = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "free", arguments: {} } };
    const before = stall.executions;
    for (const name of ["Free", "Roll", "rol", "", "__proto__", "constructor", "x".repeat(300)]) {
      const { body, status } = await stall.post({ ...unknown, params: { name } });
      expect(status).to.equal(200);
      expect(body.error, name).to.include({ code: -32602 });
      const meant = /^r.?o/i.test(name)
        ? '; did you mean "roll"\\?'
        : name === "Free"
          ? '; did you mean "free"\\?'
          : "";
      expect(body.error.message).to.match(new RegExp(`^Unknown tool: ".{0,80}"${meant}$`));
    }
    expect(stall.executions).to.equal(before);
  });

  it("are called with a name and an object", async () => {
    const call = (params: object) => stall.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    for (const params of [
      {},
      { name: 5 },
      { name: null },
      { name: "roll", arguments: [] },
      { name: "roll", arguments: "" },
    ])
      expect((await call(params)).body.error, JSON.stringify(params)).to.include({ code: -32602 });
    for (const params of [{ name: "roll" }, { name: "roll", arguments: null }])
      expect((await call(params)).body.result.structuredContent.accepts).to.have.length(2);
  });

  it("are listed on one page: there are no cursors", async () => {
    for (const cursor of ["x", "", 5, {}]) {
      const { error } = await list("2025-11-25", { cursor });
      expect(error, String(cursor)).to.include({ code: -32602 });
    }
    expect((await list("2025-11-25", { cursor: null })).result.tools).to.have.length(4);
    expect((await list("2025-11-25")).result).not.to.have.property("nextCursor");
  });

  it("show what each version knows, and no more", async () => {
    const common = ["name", "description", "inputSchema", "annotations"];
    const more = ["title", "outputSchema", "_meta"];
    expect(await roll("2025-11-25")).to.have.all.keys(...common, ...more);
    expect(await roll("2025-06-18")).to.have.all.keys(...common, ...more);
    expect(await roll("2025-03-26")).to.have.all.keys(...common);
  });

  it("say what they cost in words, and where Cloudflare's client looks", async () => {
    const tool = await roll();
    expect(tool.description).to.equal(
      "The service roll. Costs 0.001 USD a call, paid with x402 in USDC on Base or USDC on Solana.",
    );
    expect(tool._meta).to.deep.equal({ "agents-x402/paymentRequired": true, "agents-x402/priceUSD": 0.001 });
  });

  it("say all four hints, and assume what the protocol does where a manifest is silent", async () => {
    const { tools } = (await list("2025-11-25")).result;
    const hints = tools.map(({ annotations }: Loose) => annotations);
    expect(hints).to.deep.equal([
      { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
      { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
      { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    ]);
    expect((await roll("2025-03-26")).annotations).to.have.property("title", "The roll");
  });

  it("take the input as its schema is published", async () => {
    const { $schema: _dialect, ...published } = SCHEMAS.get("RollRequest") as Loose;
    expect((await roll()).inputSchema).to.deep.equal(published);
    const [, , seal] = (await list("2025-11-25")).result.tools;
    expect(seal.inputSchema).to.deep.equal({
      type: "object",
      properties: { low: { type: "integer" }, high: { type: "integer" } },
    });
  });

  it("can be listed by stock clients, which take no list with a field whose schema is true or false", async () => {
    const schema = createCompiler(new Map())({ type: "object", properties: { any: true, none: false } });
    const services = stall.parts.services.map((service) => ({ ...service, input: schema, output: schema }));
    const mcp = createMcp({ ...stall.parts, services, baseUrl: BASE_URL, loopback: false });
    const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
    const headers = { "content-type": "application/json", "mcp-protocol-version": "2025-11-25" };
    const { body } = await mcp.handle(toDoorRequest(text, { headers }));
    const { tools } = ListToolsResultSchema.parse(JSON.parse(body ?? "").result);
    for (const { inputSchema } of tools)
      expect(inputSchema.properties, "as clients read it").to.deep.equal({ any: {}, none: { not: {} } });
  });

  it("have all fields at the root of their input, and no parts, for which model providers refuse every tool", async () => {
    const [a, b] = [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: true } }];
    const schema = createCompiler(new Map())({ type: "object", allOf: [a], oneOf: [b, { required: ["b"] }] });
    const services = stall.parts.services.map((service) => ({ ...service, input: schema }));
    const tools = createServiceTools({ ...stall.parts, services, endpoint: "https://payphone.test/mcp" });
    const [tool] = tools.list("2025-11-25") as readonly Loose[];
    expect(tool?.inputSchema).to.deep.equal({
      type: "object",
      properties: { a: { type: "string" }, b: {} },
      required: ["a"],
    });
  });

  it("promise the output or the challenge, since some clients hold both to the promise", async () => {
    const { outputSchema } = await roll();
    expect(outputSchema.type).to.equal("object");
    expect(outputSchema.anyOf[0].properties).to.deep.equal({
      value: { type: "integer" },
      base: { type: ["object", "null"] },
      solana: { type: "object" },
    });
    expect(outputSchema.anyOf[1].required).to.include("accepts");
    expect(JSON.stringify(outputSchema), "older clients do not know the dialect").not.to.include("$schema");
  });

  it("are the same bytes every time, and for every client of a version", async () => {
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const twin = await openStall();
    for (const version of VERSIONS) {
      const [one, other] = [stall, twin].map(({ post }) => post(list, { "mcp-protocol-version": version }));
      expect(JSON.stringify((await one)?.body)).to.equal(JSON.stringify((await other)?.body));
    }
    twin.close();
  });

  it("write a challenge once for each version, however often it is asked for", async () => {
    const tools = createServiceTools({ ...stall.parts, endpoint: "https://payphone.test/mcp" });
    const written: string[] = [];
    const ask = (version: McpVersion) =>
      tools.call({
        name: "roll",
        args: {},
        version,
        payment: undefined,
        signIn: undefined,
        version1: false,
        requestId: "r",
        bytes: 100,
        json: "{}",
        signal: new AbortController().signal,
        write: (result) => {
          written.push(version);
          return JSON.stringify({ version, ...result });
        },
      });
    for (const version of ["2025-11-25", "2026-07-28", "2025-11-25", "2026-07-28"] as const) {
      const { result } = (await ask(version)) as ToolAnswer;
      expect(JSON.parse(result)).to.deep.include({ version, isError: true });
    }
    expect(written).to.deep.equal(["2025-11-25", "2026-07-28"]);
  });

  it("are what they were when somebody last looked at them", async () => {
    const seen = JSON.stringify(JSON.parse(readFileSync(GOLDEN, "utf8")));
    expect(await toGolden(stall), "if this is meant: node test/surfaces/mcp/served/write-golden.ts").to.equal(seen);
  });
});
