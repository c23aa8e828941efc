import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { expect } from "chai";
import type { ComposeOptions } from "../../../runtime/cli/serve/composition.ts";
import { openMcpServers } from "../../../runtime/cli/serve/mcp-servers.ts";
import { warnOfUnset } from "../../../runtime/cli/serve/outside.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { LiveMcpServer } from "../../../runtime/drivers/mcp/mcp-server.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { problemOf } from "../../support/thrown.ts";

const PROGRAM = join(import.meta.dirname, "../../support/sources/tool-server.ts");

/**
 * A program that is given these variables, and whose tool `show_self` answers with all that it has. The set is the copy of a
 * shop in another folder, as after a rollback.
 */
function open(env: Readonly<Record<string, string>>, program = PROGRAM): LiveMcpServer {
  const command = [process.execPath, program];
  const upstreams = [{ id: "tools", title: "Tools", mcp: "stdio", command, env: Object.keys(env) }];
  const set = { site: { upstreams } as unknown as SiteManifest, dir: tmpdir(), home: import.meta.dirname };
  const servers = openMcpServers({
    set,
    env: { ...env, PATH: process.env.PATH },
    locate: () => expect.fail("a program has no address"),
    clock: { now: Date.now },
    log: silentLog,
  });
  return servers.get("tools") ?? expect.fail("it is not opened");
}

describe("the program of an MCP server", () => {
  const { signal } = new AbortController();
  const REGION = "eu-north-1";
  for (const [what, env] of [
    ["a secret", { REGION, SHOP_TOKEN: "t-3f9a62c1d7" }],
    ["a password", { REGION, DATABASE_URL: "postgres://me:hunter-22@db/shop" }],
    ["nothing secret", { REGION, DATABASE_URL: "postgres://db/shop" }],
  ] as const)
    it(`answers with what it is given only where that has nothing secret: ${what}`, async () => {
      const server = open(env);
      try {
        const answer = await server.call("show_self", {}, signal).catch((error: Error) => error.message);
        if (what === "nothing secret") expect(JSON.stringify(answer)).to.include(REGION).and.include(env.DATABASE_URL);
        else expect(answer).to.equal("Tools's answer contains a secret and is withheld");
      } finally {
        await server.close();
      }
    });

  it("runs in the shop's folder, also when the set is a copy that stands elsewhere", async () => {
    const server = open({ REGION }, relative(import.meta.dirname, PROGRAM));
    try {
      expect(JSON.stringify(await server.call("show_self", {}, signal))).to.include(REGION);
    } finally {
      await server.close();
    }
  });
});

describe("an MCP server behind a password, which its URL has", () => {
  const { signal } = new AbortController();

  it("is sent it in a header, and does not answer with it", async () => {
    const site = await openToolSite("stateless");
    const toText = (text: string) => ({ content: [{ type: "text" as const, text }] });
    const inputSchema = { type: "object" as const };
    const file = Buffer.from("it was s@lt-3f9a%").toString("base64");
    const image = { type: "image" as const, data: file, mimeType: "image/png" };
    const resource = { type: "resource" as const, resource: { uri: "memo://1", blob: file } };
    site.offer(
      { name: "greet", inputSchema, run: () => toText("hello") },
      { name: "tell", inputSchema, run: () => toText("it is s@lt-3f9a%") },
      { name: "draw", inputSchema, run: () => ({ content: [image] }) },
      { name: "keep", inputSchema, run: () => ({ content: [resource] }) },
    );
    const server = openMcpServers({
      set: {
        site: { upstreams: [{ id: "tools", title: "Tools", mcp: "http" }] } as unknown as SiteManifest,
        home: ".",
      },
      env: {},
      locate: () => ({ url: site.url.replace("://", "://shop:s%40lt-3f9a%25@"), headers: {} }),
      clock: { now: Date.now },
      log: silentLog,
    }).get("tools");
    try {
      expect((await server?.call("greet", {}, signal))?.content).to.deep.equal(toText("hello").content);
      const login = `Basic ${Buffer.from("shop:s@lt-3f9a%").toString("base64")}`;
      expect(site.asked.map(({ headers }) => headers.authorization))
        .to.include(login)
        .and.not.include(undefined);
      for (const tool of ["tell", "draw", "keep"]) {
        const told = await problemOf(server?.call(tool, {}, signal) ?? Promise.resolve());
        expect(told.message, tool).to.equal("Tools's answer contains a secret and is withheld");
      }
    } finally {
      await server?.close();
      await site.close();
    }
  });
});

describe("an MCP server whose tools are sold", () => {
  it("is named at the start where its credential is not set: its tools could not be called", () => {
    const lines: unknown[] = [];
    const upstreams = [{ id: "tools", title: "Tools", mcp: "http", key: { variable: "TOOLS_KEY", header: "x-key" } }];
    const set = { site: { upstreams }, manifests: [{ id: "greet", proxy: { mcp: "tools", tool: "greet" } }] };
    const log = { ...silentLog, warn: (...line: readonly unknown[]) => void lines.push(line) };
    warnOfUnset({ set, config: { env: {} }, log } as unknown as ComposeOptions);
    expect(lines).to.deep.equal([["upstream.key-unset", { upstream: "tools", variable: "TOOLS_KEY" }]]);
  });
});
