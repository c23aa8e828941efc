import { expect } from "chai";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { createWorldClock } from "../../support/world/clock.ts";
import { openSiteServer } from "./site-server.ts";

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
    const rate = { per_second: 0.5, burst: 2 };
    const server = openSiteServer(site.url, { calls: 1, rate, clock, pause: clock.pause });
    try {
      await Promise.all(Array.from({ length: 4 }, () => server.call("work", {}, SIGNAL)));
      expect(times).to.deep.equal([0, 0, 2, 4]);
    } finally {
      await server.close();
      await site.close();
    }
  });
});
