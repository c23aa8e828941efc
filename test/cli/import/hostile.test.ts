import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { faultsOf, importAll, importDocument, manifestOf, namesIn, openShop, refusal, textsOf } from "./shop.ts";

const SECRET = { a: { type: "object", properties: { of_somebody_else: { type: "string" } } } };

const toDocument = (schema: unknown, more: object = {}): object => ({
  openapi: "3.1.0",
  info: { title: "Hostile", version: "1" },
  servers: [{ url: "https://hostile.example.com" }],
  paths: {
    "/a": {
      post: {
        operationId: "../../take",
        requestBody: { content: { "application/json": { schema } } },
        responses: { 200: { description: "Taken." } },
        ...more,
      },
    },
  },
});

const level = (name: string, of: string): string => `${name}: &${name} [${Array(10).fill(of).join(", ")}]\n`;
const BOMB = `openapi: 3.1.0\npaths: {}\n${level("a", "x")}${level("b", "*a")}${level("c", "*b")}${level("d", "*c")}${level("e", "*d")}`;

describe("an import of a hostile document", () => {
  for (const [what, text, message] of [
    ["aliases that grow beyond measure", BOMB, "is neither JSON nor YAML: Excessive alias count"],
    [
      "an alias that contains itself",
      "openapi: 3.1.0\npaths: &p { /a: *p }",
      "is nested too deeply, or contains itself",
    ],
    ["20 000 levels", `{"openapi":"3.1.0","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, "is nested too deeply"],
    ["33 MB", " ".repeat(33 * 2 ** 20), "is larger than 32 MB: leave in it only the operations to be sold"],
  ] as const)
    it(`is refused for ${what}`, async () => {
      const dir = await openShop();
      await writeFile(join(dir, "api.yaml"), text);
      expect(await refusal(importAll(dir, join(dir, "api.yaml")))).to.include(message);
    });

  for (const reference of [
    "file:///etc/passwd",
    "../secret.json#/a",
    "%2e%2e/secret.json#/a",
    "link.json#/a",
    "http://127.0.0.1:9/x.json",
  ])
    it(`takes in nothing from outside of its folder: ${reference}`, async () => {
      const dir = await openShop();
      await mkdir(join(dir, "in"));
      await writeFile(join(dir, "secret.json"), JSON.stringify(SECRET));
      await symlink("../secret.json", join(dir, "in/link.json"));
      await writeFile(join(dir, "in/api.json"), JSON.stringify(toDocument({ $ref: reference })));
      const { report } = await importAll(dir, join(dir, "in/api.json"));
      expect(report).to.include("leads nowhere");
      expect(await namesIn(dir)).to.deep.equal([]);
    });

  it("follows no redirect from a part of it", async () => {
    const asked: string[] = [];
    const server = createServer(({ url = "" }, response) => {
      asked.push(url);
      if (url === "/part.json") response.writeHead(302, { location: "/inside/secret.json" }).end();
      else response.end(JSON.stringify(url === "/api.json" ? toDocument({ $ref: "part.json#/a" }) : SECRET));
    });
    const url = `${await listenOnLoopback(server)}/api.json`;
    try {
      expect((await importAll(await openShop(), url)).report).to.include("leads nowhere");
      expect(asked).to.deep.equal(["/api.json", "/part.json"]);
    } finally {
      await closeServer(server);
    }
  });

  it("leaves no credential of its own address in the shop", async () => {
    const server = createServer((_, response) => void response.end(JSON.stringify(toDocument({ type: "object" }))));
    const url = `${await listenOnLoopback(server)}/api.json`;
    try {
      const dir = await openShop();
      await importAll(dir, `${url}?token=GHSAT0AAAA`);
      const texts = await textsOf(dir);
      expect(JSON.parse(texts["manifests/.imports/hostile.json"] ?? "")).to.have.property("source", url);
      expect(JSON.stringify(texts)).to.not.include("GHSAT0AAAA");
    } finally {
      await closeServer(server);
    }
  });

  it("gives what it names no place but its own, and no word in the manifest", async () => {
    const dir = await openShop();
    const words = { summary: 'x\nprice: "0"', description: "<script>a()</script>\nhandler: a.b", tags: ["../x"] };
    const named = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}',
    );
    const document = { ...toDocument({ $ref: "#/components/schemas/__proto__" }, words), components: {} };
    document.components = JSON.parse(`{"schemas":{"__proto__":${JSON.stringify(named)},"../../z":{"type":"object"}}}`);
    await writeFile(join(dir, "api.json"), JSON.stringify(document));
    await importAll(dir, join(dir, "api.json"));
    const texts = await textsOf(dir);
    expect(
      Object.keys(texts).filter((file) => !/^(?:manifests|schemas)\/(?:\.imports\/)?[\w.-]+$/.test(file)),
    ).to.deep.equal(["api.json"]);
    expect(await namesIn(dir)).to.deep.equal(["hostile_take"]);
    expect(texts["manifests/hostile_take.yaml"])
      .to.include('price: "0.01"')
      .and.not.match(/<script|^handler/m);
    expect({}).to.not.have.property("type");
  });

  it("takes no word of the language for a type or a style", async () => {
    for (const word of ["constructor", "__proto__", "toString"]) {
      const dir = await openShop();
      const parameters = [{ name: "list", in: "query", style: word, schema: { type: "array", items: { type: word } } }];
      const document = toDocument({ type: "object", properties: { a: { type: word } } }, { parameters });
      await writeFile(join(dir, "api.json"), JSON.stringify(document));
      await importAll(dir, join(dir, "api.json"));
      expect((await textsOf(dir))["manifests/hostile_take.yaml"], word).to.match(/ list:\n +type: array\n/);
    }
  });

  it("takes texts that were cut within a character, leaves out what is checked by one, and goes on", async () => {
    const answer = (schema: object, example = {}): Record<string, unknown> => ({
      responses: { 200: { content: { "application/json": { schema, example } } } },
    });
    const properties = { a: { type: "string", title: "cut \ud83d", description: "cut \ud83d" } };
    const { dir, report } = await importDocument({
      said: { summary: "cut \ud83d", ...answer({ type: "object", properties }) },
      shown: answer({ type: "object" }, { a: "cut \ud83d" }),
      checked: answer({ type: "object", properties: { a: { enum: ["cut \ud83d"] } } }),
    });
    expect(await namesIn(dir)).to.have.members(["shelf_said", "shelf_shown"]);
    expect(report).to.include("- checked: it would not pass the check: this text has half of a character in it");
    expect(await manifestOf(dir, "shelf_said")).to.have.nested.property(
      "output.properties.a.description",
      "cut \ufffd",
    );
    expect(await faultsOf(dir)).to.deep.equal([]);
  });
});
