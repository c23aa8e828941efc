import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { type RecordRun, runRecord } from "../../runtime/cli/record.ts";
import { loadRecordings } from "../../runtime/sandbox/recordings.ts";
import { makeDirectory, removeDirectories, TOSS } from "../manifests/served-directory.ts";

/** What the live upstream answers, by path and query or by JSON-RPC method. */
type Live = Readonly<Record<string, { status?: number; headers?: Record<string, string>; body: unknown }>>;

const KEY = "demo-key-of-an-operator";
const PRICES = "plugins/price/recordings/gecko/prices.json";
const LIST = "plugins/screen/recordings/list/list.json";
const CHAIN = "plugins/wallet/recordings/node/balances.json";
const PRICE = "/price?ids=a&vs=usd";

const NOTHING = "0 exchanges: 0 of the same shape, 0 changed, 0 not recorded; no file written";

const success = (path: string, response: object, name = "success"): object => ({
  ...{ case: name, request: { method: "GET", path }, response },
});
const balance = (response: object, name = "success"): object => ({
  ...{ case: name, request: { rpc: { method: "getBalance", params: ["0x1"] } }, response },
});

describe("payphone record", () => {
  let server: Server;
  let live: Live;
  let asked: { path: string; headers: IncomingMessage["headers"]; body: unknown }[];
  let dir: string;

  before(async () => {
    server = createServer(async (request, response) => {
      const { url: path = "", headers, method } = request;
      const body =
        method === "POST" ? ((await json(request)) as { id?: unknown; method?: string; jsonrpc?: string }) : undefined;
      asked.push({ path, headers, body });
      const { status = 200, headers: own = {}, body: answer } = live[body?.method ?? path] ?? { status: 404, body: {} };
      const text = body?.jsonrpc ? { jsonrpc: "2.0", id: body.id, ...(answer as object) } : answer;
      response.writeHead(status, own).end(typeof text === "string" ? text : JSON.stringify(text));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  beforeEach(() => {
    asked = [];
    live = {};
  });
  after(async () => {
    server.close();
    await removeDirectories();
  });

  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  /** A served directory with these files, whose upstreams are the server. */
  async function make(files: Readonly<Record<string, unknown>>): Promise<void> {
    const upstreams = [
      {
        ...{ id: "gecko", title: "Gecko", url: `${origin()}/api`, variable: "GECKO_URL" },
        key: { variable: "GECKO_KEY", header: "x-key" },
      },
      { id: "node", title: "Node", variable: "NODE_RPC_URL" },
      { id: "list", title: "List", url: `${origin()}/sanctions-list.xml` },
    ];
    const site = stringify({ ...parse(TOSS["manifests/_site.yaml"] ?? ""), upstreams });
    const texts = Object.entries(files).map(([file, content]) => [
      file,
      typeof content === "string" ? content : JSON.stringify({ source: "a test", exchanges: content }, null, 4),
    ]);
    dir = await makeDirectory({ ...TOSS, "manifests/_site.yaml": site, ...Object.fromEntries(texts) });
  }

  const record = (more: Partial<Parameters<typeof runRecord>[0]> = {}): Promise<RecordRun> =>
    runRecord({ dir, ids: [], check: false, env: { GECKO_KEY: KEY }, ...more });
  const read = (file: string): Promise<string> => readFile(join(dir, file), "utf8");
  const exchangesOf = (file: string) => loadRecordings(dir, [file])[0]?.exchanges ?? [];

  it("asks again what was asked on a good day, with the operator's credential, and nothing else", async () => {
    await make({
      [PRICES]: [
        success(PRICE, { json: { a: { usd: 1 } } }),
        success("/none", { json: [] }, "empty:list"),
        success("/broken", { status: 503, text: "" }, "error"),
        success(PRICE, { status: 429, text: "" }, "rate-limit"),
      ],
    });
    live = { "/api/price?ids=a&vs=usd": { body: { a: { usd: 2 } } }, "/api/none": { body: [] } };
    const { report, hasFailed } = await record();
    expect(hasFailed).to.equal(false);
    expect(report.split("\n")).to.deep.equal([
      "gecko/prices.json  success     GET /price?ids=a&vs=usd  same shape",
      "gecko/prices.json  empty:list  GET /none                same shape",
      `2 exchanges: 2 of the same shape, 0 changed, 0 not recorded; written: ${PRICES}`,
    ]);
    expect(asked.map(({ path, headers }) => [path, headers["x-key"]])).to.deep.equal([
      ["/api/price?ids=a&vs=usd", KEY],
      ["/api/none", KEY],
    ]);
  });

  it("writes the new answers, keeps all the rest, and never writes the credential", async () => {
    const error = success(PRICE, { status: 500, text: "no" }, "error");
    const headers = { "x-limit": "30", "x-key": "…", "set-cookie": "…", "x-auth-user": "…", "x-gone": "1" };
    await make({ [PRICES]: [success(PRICE, { headers, json: { usd: 1, list: [] } }), error] });
    const answer = { "x-limit": "10", "x-other": "1", "set-cookie": "s=1", "x-auth-user": "me", "x-key": "k" };
    live = { [`/api${PRICE}`]: { headers: answer, body: { usd: 2.5, list: [] } } };
    await record();
    expect(await read(PRICES)).to.equal(`{
  "source": "a test",
  "exchanges": [
    {
      "case": "success",
      "request": { "method": "GET", "path": "/price?ids=a&vs=usd" },
      "response": { "headers": { "x-limit": "10" }, "json": { "usd": 2.5, "list": [] } }
    },
    {
      "case": "error",
      "request": { "method": "GET", "path": "/price?ids=a&vs=usd" },
      "response": { "status": 500, "text": "no" }
    }
  ]
}
`);
  });

  it("leaves a file as it is when nothing in it has changed", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { usd: 1 } })] });
    live = { [`/api${PRICE}`]: { body: { usd: 1 } } };
    const before = await read(PRICES);
    expect((await record()).report).to.match(/no file written$/);
    expect(await read(PRICES)).to.equal(before);
  });

  it("shows what has changed in a shape, writes the answer, and fails", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { usd: 1, cap: null, gone: 0 } })] });
    live = { [`/api${PRICE}`]: { body: { usd: "1", cap: null, eur: { spot: 1 } } } };
    const { report, hasFailed } = await record();
    expect(hasFailed).to.equal(true);
    expect(report.split("\n").slice(0, -1)).to.deep.equal([
      "gecko/prices.json  success  GET /price?ids=a&vs=usd  changed shape",
      "    + eur",
      "    + eur.spot",
      "    - gone",
      "    usd: string, was number",
    ]);
    expect(exchangesOf(PRICES)[0]?.response.json).to.deep.equal({ usd: "1", cap: null, eur: { spot: 1 } });
  });

  it("only compares when it is to check", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { usd: 1 } })] });
    live = { [`/api${PRICE}`]: { body: { usd: "1" } } };
    const before = await read(PRICES);
    const { report, hasFailed } = await record({ check: true });
    expect([hasFailed, report.includes("changed shape"), /no file written$/.test(report)]).to.deep.equal([
      true,
      true,
      true,
    ]);
    expect(await read(PRICES)).to.equal(before);
  });

  it("does not write a page for data", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })] });
    live = { [`/api${PRICE}`]: { body: "<html><br>Welcome" } };
    const { report, hasFailed } = await record();
    expect([hasFailed, report.includes("    the body: text, was object")]).to.deep.equal([true, true]);
    expect(report).to.match(/no file written$/);
  });

  it("writes lines of at most 120 characters, as the formatter would", async () => {
    const nearly = (length: number): string[] => ["a".repeat(length)];
    const body = {
      one: nearly(98),
      two: nearly(99),
      three: [nearly(103), nearly(103)],
      four: { a: nearly(200), b: {}, c: [] },
    };
    await make({ [PRICES]: [success(PRICE, { json: [] })] });
    live = { [`/api${PRICE}`]: { body } };
    await record();
    const lines = (await read(PRICES)).split("\n");
    expect(lines.filter((line) => line.length === 120)).to.have.length(2);
    expect(lines.filter((line) => line.length > 120)).to.have.length(1);
    expect(exchangesOf(PRICES)[0]?.response.json).to.deep.equal(body);
  });

  it("cuts a long list of changes short", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })] });
    const body = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field_${at}`, at]));
    live = { [`/api${PRICE}`]: { body } };
    const lines = (await record({ check: true })).report.split("\n");
    expect(lines).to.have.length(33);
    expect(lines.at(-2)).to.equal("    … and 10 more");
  });

  it("does not take a failure for an answer, and goes on with the others", async () => {
    await make({
      [PRICES]: [success("/gone", { json: {} }), success("/paid", { json: {} }), success(PRICE, { json: {} })],
    });
    live = {
      [`/api${PRICE}`]: { body: {} },
      "/api/paid": { status: 401, body: {} },
      "/api/gone": { status: 410, body: {} },
    };
    const before = exchangesOf(PRICES);
    expect((await record()).report.split("\n")).to.deep.equal([
      "gecko/prices.json  success  GET /gone                changed shape",
      "    status 410, was 200",
      "gecko/prices.json  success  GET /paid                not recorded",
      "    Gecko answered with status 401",
      "gecko/prices.json  success  GET /price?ids=a&vs=usd  same shape",
      "3 exchanges: 1 of the same shape, 1 changed, 1 not recorded; no file written",
    ]);
    expect(exchangesOf(PRICES)).to.deep.equal(before);
  });

  it("fails when nothing could be reached, and says why without showing an address", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })], [CHAIN]: [balance({ result: "0x1" })] });
    const closed = "http://127.0.0.1:1/v2/secret-project-key";
    const { report, hasFailed } = await record({ env: { GECKO_URL: closed } });
    expect(hasFailed).to.equal(true);
    expect(report).to.include("    Gecko could not be reached, or broke off\n").and.not.include("127.0.0.1");
    expect(report).to.include("    Node needs NODE_RPC_URL, which is not set\n");
  });

  it("does not record a refusal for being asked too often", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })] });
    live = { [`/api${PRICE}`]: { status: 429, headers: { "retry-after": "60" }, body: { error: "slow down" } } };
    const { report, hasFailed } = await record();
    expect([hasFailed, asked.length]).to.deep.equal([true, 1]);
    expect(report)
      .to.include("    Gecko has been asked too often\n")
      .and.match(/no file written$/);
  });

  it("is content with a part of the upstreams, and asks those alone that it is told to", async () => {
    await make({ [PRICES]: [success(PRICE, { json: {} })], [CHAIN]: [balance({ result: "0x1" })] });
    live = { [`/api${PRICE}`]: { body: {} } };
    expect((await record()).hasFailed).to.equal(false);
    expect((await record({ ids: ["gecko"] })).report).to.match(/^gecko[^\n]+same shape\n1 exchanges/);
    const refused = await record({ ids: ["gekko"] }).catch(({ code, message }) => [code, message]);
    expect(refused).to.deep.equal([
      "bad-request",
      '"gekko" is no upstream of _site.yaml that has recordings; there are gecko, node',
    ]);
  });

  it("records nodes by calls, null and errors included, and does not take an error for a result", async () => {
    const reverted = { code: 3, message: "reverted", data: "0x" };
    const call = { rpc: { method: "call", params: [] } };
    await make({
      [CHAIN]: [
        balance({ result: { value: 1 } }),
        { case: "success:revert", request: call, response: { rpc_error: reverted } },
      ],
    });
    const env = { NODE_RPC_URL: `${origin()}/v2/secret-project-key` };
    live = { getBalance: { body: { result: { value: 2 } } }, call: { body: { error: { ...reverted, data: "0x08" } } } };
    expect((await record({ env })).hasFailed).to.equal(false);
    expect(exchangesOf(CHAIN).map(({ response }) => response)).to.deep.equal([
      { result: { value: 2 } },
      { rpc_error: { ...reverted, data: "0x08" } },
    ]);
    expect(asked[0]?.path).to.equal("/v2/secret-project-key");
    expect(asked[0]?.body).to.deep.include({ method: "getBalance", params: ["0x1"] });

    live = { getBalance: { body: { error: reverted } }, call: { body: { result: null } } };
    const { report } = await record({ env });
    expect(report)
      .to.include("- result")
      .and.include("+ rpc_error.code")
      .and.match(/0 not recorded; no file written$/);
  });

  it("does not write an answer that repeats a credential", async () => {
    await make({ [PRICES]: [success(PRICE, { json: { url: "" } })], [CHAIN]: [balance({ result: "" })] });
    const NODE_RPC_URL = `${origin()}/v2/secret-project-key?token=another-secret`.replace(
      "//",
      "//name-of-operator:his-password@",
    );
    for (const echo of [KEY, "secret-project-key", "another-secret", "name-of-operator", "his-password"]) {
      live = { [`/api${PRICE}`]: { body: { url: echo } }, getBalance: { body: { result: echo } } };
      const { report } = await record({ env: { GECKO_KEY: KEY, NODE_RPC_URL } });
      expect(report.match(/the answer repeats a credential/g)).to.have.length(2);
      expect(`${await read(PRICES)}${await read(CHAIN)}${report}`).not.to.include(echo);
    }
  });

  it("does not write a credential that comes in a header, or in other letters", async () => {
    await make({ [PRICES]: [success(PRICE, { headers: { "x-echo": "" }, json: {} })] });
    const before = await read(PRICES);
    const env = { GECKO_KEY: "demo/key/of/an/operator" };
    live = { [`/api${PRICE}`]: { headers: { "x-echo": `for ${env.GECKO_KEY}` }, body: {} } };
    expect((await record({ env })).report).to.include("the answer repeats a credential");
    live = { [`/api${PRICE}`]: { body: String.raw`{"error":"demo\/key\/of\/an\/operator"}` } };
    expect((await record({ env })).report).to.include("the answer repeats a credential");
    expect(await read(PRICES)).to.equal(before);
  });

  it("renews a body that lies in a file of its own", async () => {
    const xml = (id: number): string => `<list><file>sanctions-list.xml</file><id>${id}</id></list>`;
    const body = "plugins/screen/recordings/list/list.xml";
    await make({
      [LIST]: [success("", { headers: { "content-type": "text/xml" }, file: "list.xml" })],
      [body]: xml(1),
    });
    live = { "/sanctions-list.xml": { headers: { "content-type": "text/xml" }, body: xml(2) } };
    const { report } = await record();
    expect(report)
      .to.include("list/list.json  success  GET /  same shape")
      .and.match(/written: .*list\.xml$/);
    expect(await read(body)).to.equal(xml(2));
    expect((await record()).report).to.match(/no file written$/);

    live = {
      "/sanctions-list.xml": { headers: { "content-type": "text/xml" }, body: `<list>${" ".repeat(2 ** 20)}</list>` },
    };
    expect((await record()).report).to.include("characters are too many to be kept");
    expect(await read(body)).to.equal(xml(2));
  });

  it("sends a recorded POST as it stands", async () => {
    const request = { method: "POST", path: "/search", body: { ids: ["a"] } };
    await make({ [PRICES]: [{ case: "success", request, response: { json: {} } }] });
    live = { "/api/search": { body: {} } };
    expect((await record()).hasFailed).to.equal(false);
    expect(asked[0]?.body).to.deep.equal({ ids: ["a"] });
  });

  it("asks no upstream that the site does not list, and says so", async () => {
    await make({ "plugins/oracle/recordings/llm/a.json": [success("/chat", { json: {} })] });
    expect(await record()).to.deep.equal({
      report: `not asked, because _site.yaml does not list them: llm\n${NOTHING}`,
      hasFailed: false,
    });
    expect(await record({ ids: ["llm"] }).catch(({ code }) => code)).to.equal("bad-request");
  });

  it("asks each request once, and leaves a second answer to it as it is", async () => {
    await make({ [PRICES]: [success(PRICE, { json: [1] }), success(PRICE, { json: [] }, "empty")] });
    live = { [`/api${PRICE}`]: { body: [2, 3] } };
    expect((await record()).hasFailed).to.equal(false);
    expect(asked).to.have.length(1);
    expect(exchangesOf(PRICES).map(({ response }) => response.json)).to.deep.equal([[2, 3], []]);
  });

  it("has nothing to do, and does not fail, where there are no recordings", async () => {
    await make({});
    expect(await record()).to.deep.equal({
      report: NOTHING,
      hasFailed: false,
    });
  });

  it("does not begin with a set that has faults", async () => {
    dir = await makeDirectory({});
    expect(await record().catch(({ code }) => code)).to.equal("bad-request");
  });
});
