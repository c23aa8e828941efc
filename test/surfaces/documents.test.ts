import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { type Door, openDoor } from "../support/http.ts";
import { BASE_URL, type Shown, showSet } from "./support/fixture-set.ts";

const CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";
const JSON_PATHS = [
  "/openapi.json",
  "/.well-known/x402",
  "/.well-known/x402.json",
  "/.well-known/mcp/server-card.json",
];
const PAGES = ["/", "/docs", "/docs/toss", "/docs/essay", "/docs/table"];

describe("the documents", () => {
  let shown: Shown;
  let door: Door;
  before(async () => {
    shown = await showSet();
    door = await openDoor([], { documents: shown.documents });
  });
  after(() => door.close({ graceMs: 0 }));
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    fetch(door.url + path, { headers, method });
  const page = async (path: string): Promise<string> => (await get(path, { accept: CHROMIUM })).text();

  it("are answered, and answer HEAD with the same headers", async () => {
    for (const path of shown.documents.keys()) {
      const [full, head] = [await get(path), await get(path, {}, "HEAD")];
      expect(full.status, path).to.equal(200);
      expect(head.status, path).to.equal(200);
      for (const name of ["content-type", "content-length", "etag", "cache-control"])
        expect(head.headers.get(name), `${name} of ${path}`).to.equal(full.headers.get(name));
      expect((await get(path, { "if-none-match": full.headers.get("etag") ?? "" })).status, path).to.equal(304);
    }
  });

  it("have the types that their readers look for", async () => {
    const types = {
      ...Object.fromEntries(JSON_PATHS.map((path) => [path, "application/json"])),
      "/llms.txt": "text/plain; charset=utf-8",
      "/robots.txt": "text/plain; charset=utf-8",
      "/docs": "text/html; charset=utf-8",
      "/docs/explorer.js": "text/javascript; charset=utf-8",
      "/docs/site.css": "text/css; charset=utf-8",
      "/favicon.ico": "image/x-icon",
      "/icon.png": "image/png",
      "/icon.svg": "image/svg+xml",
    };
    for (const [path, type] of Object.entries(types))
      expect((await get(path, {}, "HEAD")).headers.get("content-type"), path).to.equal(type);
  });

  it("name the extensions of x402 by which a lost answer costs nothing and a sale is proved", async () => {
    for (const path of ["/openapi.json", "/llms.txt", "/.well-known/x402"]) {
      const text = await (await get(path)).text();
      for (const name of ["payment-identifier", "offer-receipt"]) expect(text, path).to.include(name);
    }
  });

  describe("at /", () => {
    it("are a page for browsers and the catalogue for everybody else", async () => {
      for (const accept of [CHROMIUM, "text/html", "text/*"])
        expect((await get("/", { accept })).headers.get("content-type"), accept).to.equal("text/html; charset=utf-8");
      for (const accept of [
        "*/*",
        "application/json",
        "application/json, text/html;q=0.9",
        "image/png",
        "nonsense",
        "",
      ])
        expect((await get("/", { accept })).headers.get("content-type"), accept).to.equal("application/json");
    });

    it("are kept apart by caches", async () => {
      const [html, json] = [await get("/", { accept: "text/html" }), await get("/")];
      for (const { headers } of [html, json]) expect(headers.get("vary")).to.equal("Accept, Accept-Encoding");
      const etag = html.headers.get("etag") ?? "";
      expect(etag).not.to.equal(json.headers.get("etag"));
      expect((await get("/", { accept: "text/html", "if-none-match": etag })).status).to.equal(304);
      expect((await get("/", { "if-none-match": etag })).status).to.equal(200);
    });

    it("say what this is, what it costs, how it is paid, and where to go on", async () => {
      const text = await page("/");
      expect(text).to.include("<title>Corner shop: pay-per-call services for AI agents</title>");
      expect(text).to.include('<meta name="description" content="What the tests sell.">');
      for (const part of ["Coin toss", "$0.01", "$1.77", "free", "USDC on Base", "402 Payment Required", "/mcp"])
        expect(text, part).to.include(part);
      for (const path of ["/docs", "/openapi.json", "/llms.txt", "/.well-known/x402"])
        expect(text).to.include(`href="${path}"`);
    });

    it("say what a call costs on each rail, in its own token", () => {
      const [amounts] = /(?<=<p class="amounts">)[^<]*/.exec(shown.text("/docs/essay")) ?? [];
      expect(amounts).to.equal("A call costs 1.77 USDC on Base, or 1.77 USDC on Solana.");
    });

    it("list every document for machines by its absolute address", async () => {
      const { links, services } = (await (await get("/")).json()) as {
        links: Record<string, string>;
        services: unknown[];
      };
      expect(services).to.have.length(3);
      for (const path of [
        ...JSON_PATHS.filter((one) => !one.endsWith("x402.json")),
        "/docs",
        "/llms.txt",
        "/mcp",
        "/v1/a2a",
      ])
        expect(links[path.slice(1)]).to.equal(BASE_URL + path);
      expect(links).not.to.have.property("sandbox");
    });
  });

  describe("for browsers", () => {
    it("may load nothing from elsewhere, and run nothing that stands in them", async () => {
      for (const path of PAGES) {
        const { headers } = await get(path, { accept: CHROMIUM });
        const policy = headers.get("content-security-policy") ?? "";
        expect(policy).to.include("default-src 'none'").and.include("script-src 'self'").and.not.include("unsafe");
        const text = await page(path);
        expect(text).not.to.match(/ style=| on\w+=|<style|javascript:/);
        expect(text.match(/<script(?! type="module" src="\/)(?! type="application\/json")[^>]*>/g)).to.equal(null);
      }
    });

    it("refer to nothing of this origin that is not there", async () => {
      const elsewhere = new Set(["/health", "/ready", "/.well-known/agent-card.json"]);
      for (const path of PAGES) {
        const text = await page(path);
        const found = [...text.matchAll(/(?:href|src)="(\/[^"#]*)/g)].map(([, target]) => target as string);
        expect(found).not.to.be.empty;
        for (const target of found.filter((one) => !elsewhere.has(one)))
          expect(shown.documents.has(target), `${path} refers to ${target}`).to.equal(true);
      }
      const scripts = [...shown.documents].filter(([path]) => path.endsWith(".js"));
      for (const [path, { body }] of scripts)
        for (const [, name] of body.toString().matchAll(/from "\.\/([\w.-]+)"/g))
          expect(shown.documents.has(`/docs/${name}`), `${path} imports ${name}`).to.equal(true);
    });

    it("show texts of manifests as texts", async () => {
      const pages = await Promise.all(PAGES.map(page));
      expect(pages.join()).to.include("&lt;first &amp; last&gt;").and.not.include("<first & last>");
    });

    it("give no two things one name, and label every field", async () => {
      for (const path of PAGES) {
        const text = await page(path);
        const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
        expect(new Set(ids).size, path).to.equal(ids.length);
        for (const [, id] of text.matchAll(/<(?:input|select|textarea)[^>]* id="([^"]+)"/g))
          expect(text, `a label of ${id}`).to.match(new RegExp(`<label(?: class="tab")? for="${id}">`));
      }
    });

    it("have at most 60 kB each as they are sent, for all services of this repository", async () => {
      const own = await showSet(join(import.meta.dirname, "../.."));
      const pages = [...own.documents].filter(([, { type }]) => type.startsWith("text/html"));
      expect(pages.map(([path]) => path)).to.include.members(["/docs", "/docs/roll", "/docs/investigate"]);
      for (const [path, { body }] of pages) expect(gzipSync(body).length, path).to.be.below(60_000);
    });
  });

  describe("with a picture", () => {
    it("are a PNG of 256 by 256 pixels, and an .ico that holds it", async () => {
      const [png, ico] = await Promise.all(
        ["/icon.png", "/favicon.ico"].map(async (path) => Buffer.from(await (await get(path)).arrayBuffer())),
      );
      expect(png?.subarray(1, 4).toString()).to.equal("PNG");
      expect([png?.readUInt32BE(16), png?.readUInt32BE(20)]).to.deep.equal([256, 256]);
      expect([ico?.readUInt16LE(2), ico?.readUInt16LE(4), ico?.readUInt8(6)]).to.deep.equal([1, 1, 0]);
      const [length, offset] = [ico?.readUInt32LE(14) ?? 0, ico?.readUInt32LE(18) ?? 0];
      expect(ico?.subarray(offset, offset + length).equals(png as Buffer)).to.equal(true);
    });
  });

  it("say loudly that a sandbox is one, and only then", async () => {
    const sandbox = await showSet(undefined, { isSandbox: true });
    expect(sandbox.text("/docs")).to.include("play money");
    expect(sandbox.text("/docs/toss")).to.include('"sandbox":true');
    expect(sandbox.json("/").links.sandbox).to.equal(`${BASE_URL}/sandbox`);
    expect(shown.text("/docs")).not.to.include("play money");
  });
});
