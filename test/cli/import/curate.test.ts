import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { removeDirectories } from "../../core/set/served-directory.ts";
import { faultsOf, fixture, importAll, manifestOf, openShop } from "./shop.ts";

describe("an import of many operations", () => {
  after(removeDirectories);

  it("suggests a command that keeps what was typed, quoted for a shell", async () => {
    const dir = await openShop({ "a b.json": await readFile(fixture("rates.yaml"), "utf8") });
    const location = join(dir, "a b.json");
    const selection = { names: [], tags: [], all: false };
    const { report } = await importAll(dir, location, { selection, upstream: "own" });
    expect(report).to.include(
      `  npx payphone import openapi '${location}' --upstream own --operations 'getRates' --price`,
    );
  });

  it("says that names clash, that descriptions are too long, and that a model would see too many tools", async () => {
    const answer = { description: "ok", content: { "application/json": { schema: { type: "object" } } } };
    const names = ["getA", "get-a", ...Array.from({ length: 39 }, (_, at) => `getNumber${at}`)];
    const paths = names.map((operationId, at) => {
      const description = at === 2 ? "Many words. ".repeat(50) : "One.";
      return [`/${at}`, { get: { operationId, description, responses: { 200: answer } } }] as const;
    });
    const info = { title: "Many", version: "1" };
    const document = {
      openapi: "3.1.0",
      info,
      servers: [{ url: "https://many.example.com" }],
      paths: Object.fromEntries(paths),
    };
    const dir = await openShop({ "many.json": JSON.stringify(document) });
    const { report } = await importAll(dir, join(dir, "many.json"));
    expect(report)
      .to.include("note: names clash, and are numbered: get-a is many_get_a_2")
      .and.to.include("note: descriptions were cut to 450 characters, which is what directories take: many_get_number0")
      .and.to.include("note: the shop has 41 services: more than 40 tools at /mcp");
  });

  it("says whose answers may come as a stream, which does not fit the JSON that is sold", async () => {
    const content = { "application/json": { schema: { type: "object" } }, "text/event-stream": {} };
    const schema = { type: "object", properties: { stream: { type: "boolean", enum: [false] } } };
    const toPost = (operationId: string, content: object): object => ({
      post: {
        operationId,
        requestBody: { content: { "application/json": { schema } } },
        responses: { 200: { description: "ok", content } },
      },
    });
    const document = {
      openapi: "3.1.0",
      info: { title: "Models", version: "1" },
      servers: [{ url: "https://models.example.com" }],
      paths: { "/chat": toPost("chat", content), "/embed": toPost("embed", { "application/json": {} }) },
    };
    const dir = await openShop({ "models.json": JSON.stringify(document) });
    const { report } = await importAll(dir, join(dir, "models.json"));
    expect(report).to.match(/note: .*"stream", allow only false \("enum: \[false\]"\): models_chat$/m);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  for (const [type, field] of [
    ["text/event-stream; charset=utf-8", "events"],
    ["application/x-ndjson", "lines"],
    ["application/json-seq", "lines"],
  ] as const)
    it(`sells a stream as its ${field}, whatever is said of its bytes: ${type}`, async () => {
      const responses = {
        200: { description: "ok", content: { [type]: { schema: { type: "string", format: "binary" } } } },
      };
      const document = {
        openapi: "3.1.0",
        info: { title: "News", version: "1" },
        servers: [{ url: "https://news.example.com" }],
        paths: { "/news": { get: { operationId: "readAll", responses } } },
      };
      const dir = await openShop({ "news.json": JSON.stringify(document) });
      await importAll(dir, join(dir, "news.json"));
      const { proxy, output } = await manifestOf(dir, "news_read_all");
      expect(proxy)
        .to.deep.include({ headers: { accept: type } })
        .and.not.have.property("answer");
      const properties = { [field]: { type: "array", items: {} } };
      expect(output).to.deep.equal({ type: "object", properties, required: [field] });
      expect(await faultsOf(dir)).to.deep.equal([]);
    });
});
