import { expect } from "chai";
import type { Problem } from "../../../runtime/api/problem.ts";
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

  it("is none while the server wants a pause, which is known before anybody pays first", async () => {
    const site = await openToolSite("sessions");
    const clock = createWorldClock();
    site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) });
    const server = openSiteServer(site.url, { clock });
    const work = (): Promise<unknown> =>
      server.call("work", {}, SIGNAL).then(
        () => "done",
        ({ message, options: { retryAfter } }: Problem) => [message, retryAfter],
      );
    try {
      expect(await work()).to.equal("done");
      site.intercept((response) => void response.writeHead(429, { "retry-after": "120" }).end());
      expect(await work()).to.deep.equal(["Site is asked too often", 120]);
      site.intercept(undefined);
      await clock.pause(20_000);
      const asked = site.asked.length;
      expect(await work()).to.deep.equal(["Site has asked for a pause", 100]);
      expect([site.asked.length, server.outage()]).to.deep.equal([asked, "Site has asked for a pause"]);
      await clock.pause(100_000);
      expect([await work(), server.outage()]).to.deep.equal(["done", undefined]);
    } finally {
      await server.close();
      await site.close();
    }
  });

  it("is none, either, while it wants a pause already when a session is opened", async () => {
    const site = await openToolSite("sessions");
    const clock = createWorldClock();
    site.offer({ name: "work", inputSchema: { type: "object" as const }, run: () => ({ content: [] }) });
    const server = openSiteServer(site.url, { clock });
    const refusalOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => "none",
        ({ message, options: { retryAfter } }: Problem) => [message, retryAfter],
      );
    try {
      site.intercept((response) => void response.writeHead(429, { "retry-after": "120" }).end());
      expect(await refusalOf(server.ready("work"))).to.deep.equal(["Site is asked too often", 120]);
      site.intercept(undefined);
      await clock.pause(20_000);
      const asked = site.asked.length;
      expect(await refusalOf(server.call("work", {}, SIGNAL))).to.deep.equal(["Site has asked for a pause", 100]);
      expect([site.asked.length, server.outage()]).to.deep.equal([asked, "Site has asked for a pause"]);
      await clock.pause(100_000);
      expect(await refusalOf(server.call("work", {}, SIGNAL))).to.equal("none");
    } finally {
      await server.close();
      await site.close();
    }
  });
});
