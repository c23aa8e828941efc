import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { runMcpImport } from "../../../runtime/cli/import/import-mcp.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";
import { CLIENTS } from "../../surfaces/a2a/served/support/clients.ts";
import { CONFIGURATIONS } from "../../surfaces/mcp/served/support/clients.ts";
import { ADD, EITHER, FETCH, HANG, KEY, LIST, NAMED, REFUSE, REPEAT, toTool } from "./site-tools.ts";

const CHUNK = "x".repeat(1024 * 1024);
const MOST_WRITTEN = 128 * CHUNK.length;

for (const kind of ["stateless", "sessions"] as const)
  describe(`an MCP server over Streamable HTTP, ${kind}`, () => {
    const TOOLS = [ADD, REFUSE, HANG, REPEAT, FETCH, ...(kind === "stateless" ? [LIST, EITHER, NAMED] : [])];
    let site: ToolSite;
    let shop: ProxyShop;
    before(async () => {
      site = await openToolSite(kind);
      site.offer(...TOOLS);
      shop = await openProxyShop({ files: importTools, env: { SITE_KEY: KEY, SITE_APP: "app-77" } });
    });
    after(async () => {
      await shop.close();
      await site.close();
    });
    afterEach(() => {
      site.intercept(undefined);
      site.offer(...TOOLS);
    });

    /** A shop that sells the site's tools, and gives up after two seconds. */
    async function importTools(url: string): Promise<string> {
      const dir = await makeDirectory({ "manifests/_site.yaml": siteOf(`{ id: other, title: Other, url: "${url}" }`) });
      const command = { server: [site.url], tools: [], all: true, price: "0.004", upstream: "site", key: "SITE_KEY" };
      await runMcpImport({ ...command, dir, variables: [], env: { SITE_KEY: KEY }, isDryRun: false });
      const file = join(dir, "manifests/_site.yaml");
      const more = "timeout_seconds: 2\n    keys: [{ variable: SITE_APP, query: app }]\n    mcp: http";
      await writeFile(file, (await readFile(file, "utf8")).replace("mcp: http", more));
      return dir;
    }

    const buy = async (tool: string, input: object = {}): Promise<[status: number, body: Record<string, unknown>]> => {
      const response = await shop.buy(`/v1/site/${tool}`, input);
      return [response.status, (await response.json()) as Record<string, unknown>];
    };
    /** @returns what the failed call says, which nobody has paid for. */
    async function fail(tool: string, status: number): Promise<string> {
      const before = shop.rail.moved.size;
      const [found, { detail }] = await buy(tool, tool === "add" ? { a: 2, b: 3 } : {});
      expect([found, shop.rail.moved.size], String(detail)).to.deep.equal([status, before]);
      expect(JSON.stringify(detail) + shop.output()).to.not.include(KEY);
      return String(detail);
    }

    it("says in one line of whole characters, and without markup, why it failed", async () => {
      const words = `<b>${"a".repeat(296)}</b>\n${"\u{1f600}".repeat(9)}`;
      const line = `${"a".repeat(296)} \u{1f600}\u2026`;
      site.offer(toTool("refuse", () => ({ isError: true, content: [{ type: "text", text: words }] })));
      expect(await fail("refuse", 400)).to.match(new RegExp(`: ${line}$`, "u"));
      const refuse = (): never => {
        throw Object.assign(new Error(words), { code: -32602 });
      };
      site.offer(toTool("refuse", refuse));
      expect(await fail("refuse", 400))
        .to.include(line.slice(0, 250))
        .and.satisfy((text: string) => text.isWellFormed());
    });

    it("is sold over REST, with its credentials in the header and the query", async () => {
      expect(await buy("add", { a: 2, b: 3 })).to.deep.equal([200, { sum: 5 }]);
      const { headers, url } = site.asked.at(-1) ?? {};
      expect([headers?.authorization, url]).to.deep.equal([`Bearer ${KEY}`, "/mcp?app=app-77"]);
    });

    it("is sold over MCP and A2A, to stock clients", async () => {
      const client = await CONFIGURATIONS[0]!.connect(`${shop.url}/mcp`);
      try {
        const call = { name: "site_add", arguments: { a: 2, b: 3 } };
        const unpaid = await client.callTool(call);
        const paid = { ...call, _meta: { "x402/payment": shop.pay(unpaid._meta["x402/error"]) } };
        expect((await client.callTool(paid)).structuredContent).to.deep.equal({ sum: 5 });
      } finally {
        await client.close();
      }
      const peer = await CLIENTS[0]![1](shop.url);
      const waiting = await peer.begin("site_add", { a: 2, b: 3 });
      const done = await peer.pay(waiting, shop.pay(waiting.status.message.metadata["x402.payment.required"]));
      expect([peer.state(done), JSON.stringify(done.artifacts)]).to.satisfy(
        ([state, text]: string[]) => state === "completed" && text?.includes('"sum":5'),
      );
    });

    if (kind === "stateless")
      it("sells outputs that are no objects as data beside blocks, and those that contain themselves as they are", async () => {
        const content = [{ type: "text", text: "[1,2]" }];
        expect(await buy("list")).to.deep.equal([200, { content, structured: [1, 2] }]);
        expect(await buy("either")).to.deep.equal([200, { content, structured: [1, 2] }]);
        expect(await buy("named", { next: { next: {} } })).to.deep.equal([200, { next: { next: {} } }]);
      });

    it("costs nothing when a tool says that it failed, or repeats a credential", async () => {
      expect(await fail("refuse", 400)).to.equal("site-tools: The moon is not full");
      expect(await fail("repeat", 502)).to.include("a secret");
    });

    it("is given no address on the inside by a caller, who is told so before paying", async () => {
      expect((await buy("fetch", { url: "https://example.com/a" }))[0]).to.equal(200);
      const before = [site.calls(), shop.rail.moved.size];
      for (const url of ["http://169.254.169.254/latest", "http://localhost:4021/", "file:///etc/passwd"]) {
        const [status, body] = await buy("fetch", { url });
        expect([status, site.calls(), shop.rail.moved.size], JSON.stringify(body)).to.deep.equal([422, ...before]);
      }
    });

    it("costs nothing when it is too slow, and works afterwards", async () => {
      expect(await fail("hang", 502)).to.equal("site-tools took too long");
      expect((await buy("add", { a: 1, b: 1 }))[1]).to.deep.equal({ sum: 2 });
    });

    it("costs nothing when a stream ends without the answer, and nobody waits for that", async () => {
      expect((await buy("add", { a: 1, b: 1 }))[1]).to.deep.equal({ sum: 2 });
      site.intercept((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write(": hi\n\n", () => response.end());
      });
      expect(await fail("add", 502)).to.equal("site-tools broke off its answer");
      site.intercept(undefined);
      expect((await buy("add", { a: 1, b: 1 }))[1]).to.deep.equal({ sum: 2 });
    });

    it("costs nothing when it dies in the middle of a call, and is connected again", async () => {
      site.intercept((response) => void response.socket?.destroy());
      await fail("add", 502);
      shop.clock.advance(20_000); // Its pause: it was connected again at once, and died then, too.
      site.intercept((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" }).write("event: message\ndata: {");
        setImmediate(() => response.socket?.destroy());
      });
      await fail("add", 502);
      site.intercept(undefined);
      shop.clock.advance(20_000);
      expect((await buy("add", { a: 1, b: 1 }))[1]).to.deep.equal({ sum: 2 });
    });

    for (const [type, head] of [
      ["application/json", '{"jsonrpc":"'],
      ["text/event-stream", "data: "],
      ["text/event-stream", ": "],
    ] as const)
      it(`costs nothing when it answers without end, and is read no further: ${type} ${head}`, async () => {
        let written = 0;
        site.intercept((response) => {
          const write = (): void => {
            while (!response.destroyed && written < MOST_WRITTEN) {
              written += CHUNK.length;
              if (!response.write(CHUNK)) return void response.once("drain", write);
            }
            response.end();
          };
          response.writeHead(200, { "content-type": type }).write(head);
          write();
        });
        await fail("add", 502);
        expect(written).to.be.below(MOST_WRITTEN);
        site.intercept(undefined);
        shop.clock.advance(20_000);
        expect((await buy("add", { a: 1, b: 1 }))[1]).to.deep.equal({ sum: 2 });
      });

    it("costs nothing when it answers with a page, a redirect or a refusal", async () => {
      const page = { "content-type": "text/html" };
      for (const [status, headers, expected] of [
        [200, page, 502],
        [302, { location: "http://127.0.0.1:9/mcp" }, 502],
        [401, page, 500],
        [403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="admin"' }, 500],
        [429, page, 503],
        [500, page, 502],
      ] as const) {
        site.intercept((response) => void response.writeHead(status, headers).end("<p>a page</p>"));
        await fail("add", expected);
        shop.clock.advance(20_000);
      }
    });

    it("costs nothing when it has changed its tools", async () => {
      site.offer({ ...ADD, run: () => ({ content: [], structuredContent: { sum: "five" } }) });
      await fail("add", 502);
      site.offer(REFUSE);
      await fail("add", 502);
      site.offer(ADD);
      expect((await buy("add", { a: 1, b: 1 }))[1]).to.deep.equal({ sum: 2 });
    });

    const toError = (message: string) => `{"jsonrpc":"2.0","error":{"code":-32000,"message":"${message}"},"id":null}`;
    for (const answer of [
      [404, '{"error":"no such session"}'],
      [400, toError("Bad Request: No valid session ID provided")], // The example of the TypeScript SDK, and Python's.
      [400, toError("Bad Request: Server not initialized")],
      [400, toError("Bad Request: Invalid session ID")],
      [401, "Unauthorized: Session not found"], // Older rmcp.
      [401, ""], // FastMCP in TypeScript.
    ] as const)
      it(`is asked in a new session when it has forgotten the old one, and the call is made once: ${answer}`, async () => {
        await buy("add", { a: 1, b: 1 });
        const before = site.calls();
        site.forget(answer);
        expect((await buy("add", { a: 1, b: 2 }))[1]).to.deep.equal({ sum: 3 });
        expect(site.calls()).to.equal(before + 1);
      });
  });
