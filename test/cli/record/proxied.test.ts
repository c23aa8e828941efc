import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { openShop } from "../../../runtime/cli/contract/contract.ts";
import { recordNew } from "../../../runtime/cli/record/new.ts";
import { runRecord } from "../../../runtime/cli/record/record.ts";
import { loadRecordings } from "../../../runtime/sandbox/recordings/recordings.ts";
import { createFolder } from "../../support/folder.ts";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";

const PICTURES = join(import.meta.dirname, "../../../runtime/docs/examples/pictures");
const FILE = "recordings/studio/red.png";
const PNG = Buffer.from("89504e470d0a1a0affd8fe00", "hex");
/** The last digit is lost in a number of JavaScript. */
const ID = "1234567890123456789";
const LATIN = "application/json; charset=iso-8859-1";

describe("payphone record, of a service without code", () => {
  let source: ScriptedSource;
  let dir: string;
  before(async () => {
    source = await openSource();
    dir = createFolder();
    await cp(PICTURES, dir, { recursive: true });
    const site = join(dir, "manifests/_site.yaml");
    await writeFile(site, (await readFile(site, "utf8")).replace("https://studio.example.com", source.url));
  });
  after(() => source.close());
  const record = () => runRecord({ dir, ids: [], check: false, env: { STUDIO_KEY: "key-of-the-studio" } });

  it("asks its upstream again with the credential in the query, and keeps a file byte by byte", async () => {
    source.script({ headers: { "content-type": "image/png" }, body: PNG });
    const { report } = await record();
    expect(report).to.contain("written: ").and.to.contain(FILE);
    expect(await readFile(join(dir, FILE))).to.deep.equal(PNG);
    const [asked] = source.asked;
    expect([asked?.method, asked?.path]).to.deep.equal(["POST", "/v2/images?key=key-of-the-studio"]);
    expect(JSON.parse(asked?.body ?? "")).to.deep.equal({ prompt: "A square in red", size: 1 });
    expect(asked?.headers.accept).to.equal("image/png");
    expect(report + (await readFile(join(dir, "recordings/studio/draw.json"), "utf8"))).to.not.contain("key-of-the");
  });

  it("keeps nothing that repeats the credential", async () => {
    source.script({ headers: { "content-type": "image/png" }, body: Buffer.from("key-of-the-studio") });
    expect((await record()).report).to.contain("not recorded");
    expect(await readFile(join(dir, FILE))).to.deep.equal(PNG);
  });

  it("records what its examples ask where no recording answers, and then asks nothing", async () => {
    await rm(join(dir, "recordings"), { recursive: true });
    const type = { "content-type": "image/png" };
    source.script({ headers: type, body: Buffer.from("\x89 key-of-the-studio") }, 500, { headers: type, body: PNG });
    const asked = source.asked.length;
    const isNew = () => recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" } });
    expect(await isNew()).to.have.property("hasFailed", true);
    expect(loadRecordings(dir)).to.deep.equal([]);
    const { report: failed, hasFailed } = await isNew();
    expect([failed, hasFailed]).to.deep.equal([
      "example 1 of draw: not recorded: The Studio answered with status 500",
      true,
    ]);
    expect((await isNew()).report).to.match(
      /^recordings\/studio\/draw\.json written\nrecordings\/studio\/[0-9a-f]{16}\.png written$/,
    );
    const [recording] = loadRecordings(dir);
    const [exchange] = recording?.exchanges ?? [];
    expect(exchange?.content).to.deep.equal(PNG);
    expect(exchange?.request).to.include({ method: "POST", path: "/v2/images" });
    expect((await isNew()).report).to.contain("recorded already");
    expect(source.asked.length).to.equal(asked + 3);
    const shop = await openProxyShop({ files: dir, isRecorded: true });
    const response = await shop.buy("/v1/draw", { colour: "red" });
    expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(PNG);
    await shop.close();
  });

  it("sends the constant headers of the service again, which decide what is answered", async () => {
    const manifest = `id: table\ntitle: Table\ndescription: A table.\nroute: POST /v1/table\nprice: "0.01"\ntags: []
proxy: { upstream: studio, request: GET /table, headers: { Accept: text/csv, x-page: "{page}" }, answer: { wrap: text } }
input: { type: object, properties: { page: { type: string } } }
output: { type: object, properties: { text: { type: string } } }\nexamples: [{ input: { page: "1" } }]\n`;
    await writeFile(join(dir, "manifests/table.yaml"), manifest);
    source.script(...Array(4).fill({ headers: { "content-type": "text/csv" }, body: "a,b" }));
    await recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" }, services: new Set(["table"]) });
    await record();
    const tables = source.asked.filter(({ path }) => path.startsWith("/table"));
    expect(tables.map(({ headers }) => [headers.accept, headers["x-page"]])).to.deep.equal([
      ["text/csv", "1"],
      ["text/csv", undefined],
    ]);
    await rm(join(dir, "manifests/table.yaml"));
    await rm(join(dir, "recordings/studio/table.json"));
  });

  it("records an answer that is nested too deeply to be written as JSON as a text", async () => {
    const deep = `{"a":1,"deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const manifest = `id: deep\ntitle: Deep\ndescription: Deep.\nroute: POST /v1/deep\nprice: "0.01"\ntags: []
proxy: { upstream: studio, request: GET /deep }
input: { type: object, properties: {} }\noutput: { type: object, properties: { a: {} } }\nexamples: [{ input: {} }]\n`;
    await writeFile(join(dir, "manifests/deep.yaml"), manifest);
    source.script({ headers: { "content-type": "application/json" }, body: deep });
    const services = new Set(["deep"]);
    const { report } = await recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" }, services });
    expect(report).to.equal("recordings/studio/deep.json written");
    expect(loadRecordings(dir).flatMap(({ exchanges }) => exchanges.map(({ response }) => response.text))).to.include(
      deep,
    );
    await rm(join(dir, "manifests/deep.yaml"));
    await rm(join(dir, "recordings/studio/deep.json"));
  });

  for (const [type, body, response] of [
    ["text/plain", "1.10", { headers: { "content-type": "text/plain" }, text: "1.10" }],
    ["application/x-ndjson", '{"a":1}\n', { headers: { "content-type": "application/x-ndjson" }, text: '{"a":1}\n' }],
    ["application/geo+json", '{"a":1}', { headers: { "content-type": "application/geo+json" }, json: { a: 1 } }],
    ["application/json; charset=utf-8", "1", { json: 1 }],
    ["application/json", `{"a":${ID}}`, { headers: { "content-type": "application/json" }, text: `{"a":${ID}}` }],
    [
      LATIN,
      Buffer.from('{"a":"\xe9"}', "latin1"),
      { headers: { "content-type": LATIN }, file: "68c536b441bea1f0.bin" },
    ],
  ] as const)
    it(`records ${String(body).trim()} as ${type} so that it is read as it was`, async () => {
      const manifest = `id: plain\ntitle: Plain\ndescription: Plain.\nroute: POST /v1/plain\nprice: "0.01"\ntags: []
proxy: { upstream: studio, request: GET /plain, answer: { wrap: it } }
input: { type: object, properties: {} }\noutput: { type: object, properties: { it: {} } }\nexamples: [{ input: {} }]\n`;
      await writeFile(join(dir, "manifests/plain.yaml"), manifest);
      source.script({ headers: { "content-type": type }, body });
      await recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" }, services: new Set(["plain"]) });
      const { exchanges } = loadRecordings(dir).find(({ file }) => file.endsWith("plain.json")) ?? {};
      expect(exchanges?.map((one) => one.response)).to.deep.equal([response]);
      await rm(join(dir, "manifests/plain.yaml"));
      await rm(join(dir, "recordings/studio/plain.json"));
    });

  it("gives each order of a job a key of its own, under which an API would else answer with the first one's result", async () => {
    const manifest = `id: order\ntitle: Order\ndescription: Order.\nroute: POST /v1/order\nprice: "0.01"\ntags: []
job: { status_route: "GET /v1/order/{job_id}", eta_seconds: 1, deadline_seconds: 9, attempts: 1, concurrency: 1, queue_limit: 9, refund: false }
proxy: { upstream: studio, request: POST /orders, body: input, poll: { request: "GET /orders/{/id}", done: /done } }
input: { type: object, properties: { what: { type: string } } }
output: { type: object, properties: { id: { type: string } } }
examples: [{ input: { what: a } }, { input: { what: b } }]\n`;
    await writeFile(join(dir, "manifests/order.yaml"), manifest);
    source.script(...["a", "a", "b", "b"].map((id) => ({ body: JSON.stringify({ id, done: true }) })));
    await recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" }, services: new Set(["order"]) });
    const orders = source.asked.filter(({ path }) => path.startsWith("/orders?"));
    expect(orders.map(({ body }) => body)).to.deep.equal(['{"what":"a"}', '{"what":"b"}']);
    expect(new Set(orders.map(({ headers }) => headers["idempotency-key"]))).to.have.property("size", 2);
    await rm(join(dir, "manifests/order.yaml"));
    await rm(join(dir, "recordings/studio/order.json"));
  });

  it("plays what an upstream called llm has answered, which is not payphone's own language model", async () => {
    const manifest = `id: ask\ntitle: Ask\ndescription: Ask.\nroute: POST /v1/ask\nprice: "0.01"\ntags: []
proxy: { upstream: llm, request: POST /chat, body: input }
input: { type: object, properties: { text: { type: string } } }\noutput: { type: object, properties: { said: {} } }
examples: [{ input: { text: hi } }]\n`;
    const site = await readFile(join(dir, "manifests/_site.yaml"), "utf8");
    const own = createFolder();
    await mkdir(join(own, "manifests"));
    const named = site.replace("id: studio", "id: llm").replace(source.url, `${source.url}/v1`);
    await writeFile(join(own, "manifests/_site.yaml"), named);
    await writeFile(join(own, "manifests/ask.yaml"), manifest);
    source.script('{"said":"hello"}');
    const { report } = await recordNew({ dir: own, ids: [], env: { STUDIO_KEY: "key-of-the-studio" } });
    expect(report).to.equal("recordings/llm/ask.json written");
    const shop = await openShop({ dir: own });
    expect(await shop.call("ask", { text: "hi" })).to.deep.equal({ said: "hello" });
    await shop.close();
  });

  it("asks nothing again of a service that can destroy something", async () => {
    const manifest = `id: clear\ntitle: Clear\ndescription: Clear.\nroute: POST /v1/clear\nprice: "0.01"\ntags: []
charge: first\nproxy: { upstream: studio, request: DELETE /pictures }\nhints: { destructive: true }
input: { type: object, properties: {} }\noutput: { type: object, properties: { gone: {} } }\nexamples: [{ input: {} }]\n`;
    await writeFile(join(dir, "manifests/clear.yaml"), manifest);
    const request = { method: "DELETE", path: "/pictures" };
    const exchanges = [{ case: "success", request, response: { json: { gone: 3 } } }];
    await writeFile(join(dir, "recordings/studio/clear.json"), JSON.stringify({ source: "By hand.", exchanges }));
    source.script({ headers: { "content-type": "image/png" }, body: PNG }, '{"gone":3}');
    const { report } = await record();
    expect(report).to.include("clear: not asked, because its hints say that it can destroy something");
    expect(source.asked.map(({ method }) => method)).not.to.include("DELETE");
    await rm(join(dir, "manifests/clear.yaml"));
    await rm(join(dir, "recordings/studio/clear.json"));
  });

  it("records a form with a file by the file's digest, and answers that file only", async () => {
    const upload = `id: upload
title: Upload
description: Takes a file.
route: POST /v1/upload
proxy: { upstream: studio, request: POST /files, encoding: multipart, files: [file], body: input }
input: { type: object, properties: { file: { type: string }, title: { type: string } }, required: [file] }
output: { type: object, properties: { size: { type: integer } }, required: [size] }
tags: []
examples:
  - input: { file: U2VjcmV0, title: a }
`;
    await rm(join(dir, "manifests/draw.yaml"));
    await rm(join(dir, "recordings"), { recursive: true });
    await writeFile(join(dir, "manifests/upload.yaml"), upload);
    source.script('{"size":6}');
    await recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" } });
    const text = await readFile(join(dir, "recordings/studio/upload.json"), "utf8");
    expect(text)
      .to.include('"type": "multipart/form-data"')
      .and.not.match(/Secret|U2VjcmV0/);
    const shop = await openProxyShop({ files: dir, isRecorded: true });
    try {
      expect(await (await shop.call("/v1/upload", { file: "U2VjcmV0", title: "a" })).json()).to.deep.equal({ size: 6 });
      expect((await shop.call("/v1/upload", { file: "aGk=", title: "a" })).status).to.equal(502);
    } finally {
      await shop.close();
    }
    const again = await record();
    expect(again.report).to.include("it sends a file, which the recording does not keep");
  });
});
