import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { connectMcp } from "../../../runtime/drivers/mcp/connection.ts";
import { createToolServer } from "../../../runtime/drivers/mcp/mcp-server.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { createWorldClock } from "../../support/world/clock.ts";

const SIGNAL = new AbortController().signal;

describe("the rate of calls of an MCP server's tools", () => {
  it("lets a burst pass at once, and what is above it wait for its turn", async () => {
    const site = await openToolSite("stateless");
    const clock = createWorldClock();
    const began = clock.now();
    const times: number[] = [];
    site.offer({
      name: "work",
      inputSchema: { type: "object" as const },
      async run() {
        times.push((clock.now() - began) / 1000);
        return { content: [{ type: "text", text: "done" }] };
      },
    });
    const server = createToolServer({
      id: "site",
      title: "Site",
      connect: () => connectMcp({ url: site.url, headers: {} }, 30_000),
      unset: "",
      timeoutMs: 30_000,
      calls: 1,
      rate: { per_second: 0.5, burst: 2 },
      pause: clock.pause,
      memoryBytes: 2 ** 40,
      repeatsCredential: () => false,
      slots: undefined,
      clock,
      log: silentLog,
    });
    try {
      await Promise.all(Array.from({ length: 4 }, () => server.call("work", {}, SIGNAL)));
      expect(times).to.deep.equal([0, 0, 2, 4]);
    } finally {
      await server.close();
      await site.close();
    }
  });
});
