import { expect } from "chai";
import type { Problem } from "../../../runtime/api/problem.ts";
import type { LiveUpstream } from "../../../runtime/drivers/upstream/upstream.ts";
import { problemOf } from "../../plugins/host.ts";
import { eventually } from "../../support/eventually.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";
import type { Line } from "../../support/sources/scripted-source.ts";

describe("an upstream that is asked too often", () => {
  let bench: Bench;
  let upstream: LiveUpstream;
  beforeEach(async () => {
    bench = await openBench();
    upstream = bench.open();
  });
  afterEach(() => bench.close());
  const get = (): Promise<unknown> => upstream.get("", { signal: NEVER });
  const fail = (): Promise<Problem> => problemOf(get());
  const limit = (retryAfter: string, status = 429): Line => ({ status, headers: { "retry-after": retryAfter } });

  it("is asked again with pauses of our own when it asks for none", async () => {
    bench.source.script(429, 429, "{}");
    await get();
    bench.source.script(429);
    const { message, options } = await fail();
    expect([message, options.retryAfter]).to.deep.equal(["Source has been asked too often", 1]);
    expect(bench.source.asked).to.have.length(6);
  });

  for (const [form, text, seconds] of [
    ["seconds", "30", 30],
    ["a date", "Fri, 15 Jan 2027 08:01:00 GMT", 60],
  ] as const)
    it(`is not asked before a long pause in ${form} is over`, async () => {
      bench.source.script(limit(text), "{}");
      const first = await fail();
      expect([first.message, first.options.retryAfter]).to.deep.equal(["Source has been asked too often", seconds]);
      bench.wait(seconds * 1000 - 1);
      const second = await fail();
      expect([second.message, second.options.retryAfter]).to.deep.equal(["Source has asked for a pause", 1]);
      expect(upstream.status()).to.deep.equal({ state: "down", reason: "Source has asked for a pause" });
      expect(bench.source.asked, "none of this was sent").to.have.length(1);
      bench.wait(1);
      await get();
    });

  it("is not asked sooner because another request, at the same time, was given a shorter pause", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late: Line = async (response) => {
      await promise;
      response.writeHead(429, { "retry-after": "5" }).end();
    };
    bench.source.script(late, limit("30"));
    const first = fail();
    await eventually(() => bench.source.asked.length === 1);
    await problemOf(upstream.get("/other", { signal: NEVER }));
    resolve();
    await first;
    expect((await fail()).options.retryAfter).to.equal(30);
  });

  it("is heard by requests that wait for their next attempt", async () => {
    upstream = bench.open({ pauseMs: 2000 });
    const { promise: isPausing, resolve: pausing } = Promise.withResolvers<void>();
    bench.source.script((response) => {
      response.writeHead(503).end();
      response.on("close", () => pausing());
    }, limit("30"));
    const waiting = fail();
    await isPausing;
    await problemOf(upstream.get("/other", { signal: NEVER }));
    expect((await waiting).options.retryAfter).to.equal(30);
    expect(bench.source.asked).to.have.length(2);
  });

  it("is given the pause that it asks for with a 503, too", async () => {
    bench.source.script(limit("30", 503));
    expect((await fail()).options.retryAfter).to.equal(30);
    await fail();
    expect(bench.source.asked).to.have.length(1);
  });

  it("is asked again after a quarter of an hour, however long the pause that it asks for", async () => {
    bench.source.script(limit("31536000"), "{}");
    expect((await fail()).options.retryAfter).to.equal(900);
    bench.wait(900_000);
    await get();
  });

  for (const text of ["", "soon", "-5", "1e9"])
    it(`is not left alone for a pause of "${text}"`, async () => {
      bench.source.script(limit(text), "{}");
      await get();
    });
});
