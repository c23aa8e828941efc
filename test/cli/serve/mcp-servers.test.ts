import { join } from "node:path";
import { expect } from "chai";
import { openMcpServers } from "../../../runtime/cli/serve/mcp-servers.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { LiveMcpServer } from "../../../runtime/drivers/mcp/mcp-server.ts";

const PROGRAM = join(import.meta.dirname, "../../support/sources/tool-server.ts");

/** A program that is given this variable, and whose tool `show_self` answers with all that it has. */
function open(name: string, value: string): LiveMcpServer {
  const command = [process.execPath, PROGRAM];
  const upstreams = [{ id: "tools", title: "Tools", mcp: "stdio", command, env: [name] }];
  const servers = openMcpServers({
    set: { site: { upstreams } as unknown as SiteManifest, dir: import.meta.dirname },
    env: { [name]: value, PATH: process.env.PATH },
    locate: () => expect.fail("a program has no address"),
    clock: { now: Date.now },
    log: silentLog,
  });
  return servers.get("tools") ?? expect.fail("it is not opened");
}

describe("the program of an MCP server", () => {
  const { signal } = new AbortController();
  for (const [name, value, isSecret] of [
    ["SHOP_TOKEN", "t-3f9a62c1d7", true],
    ["GITHUB_PAT", "t-3f9a62c1d7", true],
    ["DATABASE_URL", "postgres://me:hunter-22@db/shop", true],
    ["CONNECTION", "Server=db;Password=hunter-22", true],
    ["DATABASE_URL", "postgres://db/shop", false],
    ["REGION", "eu-north-1", false],
  ] as const)
    it(`${isSecret ? "does not answer" : "answers"} with what it is given: ${name}=${value}`, async () => {
      const server = open(name, value);
      try {
        const answer = await server.call("show_self", {}, signal).catch((error: Error) => error.message);
        if (isSecret) expect(answer).to.equal("Tools's answer contains a secret and is withheld");
        else expect(JSON.stringify(answer)).to.include(value);
      } finally {
        await server.close();
      }
    });
});
