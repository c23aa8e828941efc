import { expect } from "chai";
import type { Problem } from "../../../runtime/api/problem.ts";
import type { LiveMcpServer } from "../../../runtime/drivers/mcp/mcp-server.ts";
import { LONGEST_REST_MS } from "../../../runtime/drivers/upstream/gate.ts";
import { createPace, type Rate } from "../../../runtime/drivers/upstream/pace.ts";
import { openToolSite, type ToolSite } from "../../support/sources/tool-site.ts";
import { createWorldClock } from "../../support/world/clock.ts";
import { openSiteServer } from "./site-server.ts";

const SIGNAL = new AbortController().signal;

describe("the rate of calls of an MCP server's tools", () => {
  let site: ToolSite;
  let server: LiveMcpServer;
  let clock: ReturnType<typeof createWorldClock>;
  async function open(kind: "stateless" | "sessions", rate?: Rate): Promise<void> {
    site = await openToolSite(kind);
    clock = createWorldClock();
    server = openSiteServer(site.url, { clock, calls: 1, pace: createPace({ rate, clock, pause: clock.pause }) });
    offer(() => {});
  }
  const offer = (work: () => void): void =>
    site.offer({
      name: "work",
      inputSchema: { type: "object" },
      async run() {
        work();
        return { content: [] };
      },
    });
  afterEach(async () => {
    await server.close();
    await site.close();
  });
  const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => "none",
      ({ message, options: { retryAfter } }: Problem) => [message, retryAfter],
    );

  it("lets a burst pass at once, and what is above it wait for its turn", async () => {
    await open("stateless", { per_second: 0.5, burst: 2 });
    const began = clock.now();
    const times: number[] = [];
    offer(() => void times.push((clock.now() - began) / 1000));
    await Promise.all(Array.from({ length: 4 }, () => server.call("work", {}, SIGNAL)));
    expect(times).to.deep.equal([0, 0, 2, 4]);
    expect(server.waitMs(), "of one more").to.equal(2000);
  });

  for (const [when, isOpen] of [
    ["which is known before anybody pays first", true],
    ["already when a session is opened", false],
  ] as const)
    it(`is none while the server wants a pause, ${when}`, async () => {
      await open("sessions");
      const call = (): Promise<unknown> => refusalOf(server.call("work", {}, SIGNAL));
      if (isOpen) expect(await call()).to.equal("none");
      site.intercept((response) => void response.writeHead(429, { "retry-after": "120" }).end());
      const refused = isOpen ? await call() : await refusalOf(server.ready({ tool: "work", input: {} }));
      expect(refused).to.deep.equal(["Site is asked too often", 120]);
      site.intercept(undefined);
      await clock.pause(20_000);
      const asked = site.asked.length;
      expect(await call()).to.deep.equal(["Site has asked for a pause", 100]);
      expect([site.asked.length, server.outage()]).to.deep.equal([asked, "Site has asked for a pause"]);
      await clock.pause(100_000);
      expect([await call(), server.outage()]).to.deep.equal(["none", undefined]);
    });

  for (const isOpen of [true, false])
    it(`names no caller a longer pause than it makes itself, ${isOpen ? "with" : "without"} a session`, async () => {
      await open("sessions");
      if (isOpen) expect(await refusalOf(server.call("work", {}, SIGNAL))).to.equal("none");
      site.intercept((response) => void response.writeHead(429, { "retry-after": "999999999" }).end());
      const told = ["Site is asked too often", LONGEST_REST_MS / 1000];
      expect(await refusalOf(server.call("work", {}, SIGNAL))).to.deep.equal(told);
      expect(await refusalOf(server.call("work", {}, SIGNAL))).to.deep.equal(["Site has asked for a pause", told[1]]);
    });
});
