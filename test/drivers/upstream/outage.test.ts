import { expect } from "chai";
import type { Problem } from "../../../runtime/api/problem.ts";
import type { LiveUpstream } from "../../../runtime/drivers/upstream/upstream.ts";
import { problemOf } from "../../plugins/host.ts";
import { eventually } from "../../support/eventually.ts";
import { findFreePort } from "../../support/free-port.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";
import { breaks, hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";

const OPEN_MS = 15_000;

/** Sends a part of its body for ever, and a little more often than the patience would end. */
const drips: Line = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write("x"), 10);
  response.on("close", () => clearInterval(timer));
};

/** Says that it sends more than it does. */
const breaksOff: Line = (response) =>
  void response.writeHead(200, { "content-length": "100" }).write("{", () => response.socket?.destroy());

describe("an upstream that fails", () => {
  let bench: Bench;
  let upstream: LiveUpstream;
  beforeEach(async () => {
    bench = await openBench();
    upstream = bench.open();
  });
  afterEach(() => bench.close());
  const get = (): Promise<unknown> => upstream.get("", { signal: NEVER });
  const fail = (): Promise<Problem> => problemOf(get());

  const passing: Record<string, Line> = { 408: 408, 425: 425, 500: 500, 502: 502, 503: 503, breaks, breaksOff };
  for (const [name, line] of Object.entries(passing))
    it(`is asked again after ${name}, which may pass`, async () => {
      bench.source.script(line, line, "{}");
      await get();
      expect(bench.source.asked).to.have.length(3);
    });

  it("is asked no more often than its manifest says", async () => {
    bench.source.script(503);
    const { code, message, options } = await fail();
    expect([code, message]).to.deep.equal(["upstream-failed", "Source answered with status 503"]);
    expect(options.retryAfter, "nobody knows when").to.equal(undefined);
    expect(bench.source.asked).to.have.length(3);
    expect(bench.lines).to.deep.include({
      level: "warn",
      event: "upstream.failed",
      upstream: "source",
      reason: "answered with status 503",
      rest_ms: undefined,
      error: undefined,
    });
  });

  for (const status of [400, 401, 403, 404, 409, 422])
    it(`is not asked again after ${status}, which is an answer`, async () => {
      bench.source.script(status);
      expect(await upstream.get("", { signal: NEVER })).to.have.property("status", status);
      expect(bench.source.asked).to.have.length(1);
    });

  for (const [name, line] of Object.entries({ hangs, stalls, drips }))
    it(`is given up when it ${name} for longer than an attempt may take`, async () => {
      await get(); // Nothing has to be loaded from here on.
      upstream = bench.open({ timeoutMs: 1000, retries: 1 });
      bench.source.script(line);
      expect((await fail()).message).to.equal("Source did not answer in time");
      expect(bench.source.asked).to.have.length(3);
    });

  describe("five times in a row", () => {
    const trip = async (): Promise<void> => {
      bench.source.script(500);
      for (let failed = 0; failed < 5; failed++) await fail();
    };
    const askedWhile = async (work: () => Promise<unknown>): Promise<number> => {
      const before = bench.source.asked.length;
      await work();
      return bench.source.asked.length - before;
    };

    it("is left alone for 15 seconds, and says so", async () => {
      await trip();
      bench.wait(OPEN_MS - 1);
      expect(await askedWhile(fail)).to.equal(0);
      bench.wait(1 - OPEN_MS);
      const { code, message, options } = await fail();
      expect([code, message]).to.deep.equal(["upstream-failed", "Source has failed several times in a row"]);
      expect(options.retryAfter).to.equal(15);
      expect(upstream.status()).to.deep.equal({ state: "down", reason: message });
      expect(bench.lines.filter(({ event }) => event === "upstream.down")).to.have.length(1);
    });

    it("tells when to come back with the failure that was one too many", async () => {
      bench.source.script(500);
      const failures = [await fail(), await fail(), await fail(), await fail(), await fail()];
      expect(failures.map(({ options }) => options.retryAfter)).to.deep.equal([...Array(4).fill(undefined), 15]);
    });

    it("is asked by one request alone when the time is over, and by all when that was answered", async () => {
      await trip();
      bench.wait(OPEN_MS);
      expect(upstream.status().state, "may be asked").to.equal("up");
      const { promise: isAsked, resolve: hear } = Promise.withResolvers<void>();
      const { promise: isAllowed, resolve: allow } = Promise.withResolvers<void>();
      bench.source.script(async (response) => {
        hear();
        await isAllowed;
        response.end("{}");
      }, "{}");
      const before = bench.source.asked.length;
      const paths = (): string[] => bench.source.asked.slice(before).map(({ path }) => path);
      const probe = get();
      await isAsked;
      const waiting = upstream.get("/waiting", { signal: NEVER });
      await bench.open().get("/meanwhile", { signal: NEVER });
      expect(paths()).to.deep.equal(["/", "/meanwhile"]);
      allow();
      await Promise.all([probe, waiting]);
      expect(paths()).to.deep.equal(["/", "/meanwhile", "/waiting"]);
      expect(upstream.status()).to.deep.equal({ state: "up" });
      expect(bench.lines.at(-1)).to.include({ level: "info", event: "upstream.up" });
    });

    it("fails all who have waited for the one request when that has failed", async () => {
      await trip();
      bench.wait(OPEN_MS);
      const asked = await askedWhile(async () => {
        const failures = await Promise.all([fail(), problemOf(upstream.get("/waiting", { signal: NEVER }))]);
        expect(failures.map(({ options }) => options.retryAfter)).to.deep.equal([15, 15]);
      });
      expect(asked).to.equal(1);
    });

    it("is not left alone for longer because the clock was set back", async () => {
      await trip();
      bench.wait(-3_600_000);
      expect(await askedWhile(fail)).to.equal(1);
    });

    it("is left alone also where the clock was set back after the first time", async () => {
      bench.source.script(500);
      await fail();
      bench.wait(-3_600_000);
      for (let failed = 1; failed < 5; failed++) await fail();
      expect(upstream.status().state).to.equal("down");
    });

    it("is not held back for longer because the clock was set back after it had refused its credential", () => {
      upstream.noteRefusal(401);
      expect(upstream.outage()).to.match(/refuses the credential/);
      bench.wait(-3_600_000);
      expect(upstream.outage()).to.equal(undefined);
    });

    it("is left alone again when the one request failed, which is not repeated", async () => {
      await trip();
      bench.wait(OPEN_MS);
      expect(await askedWhile(fail)).to.equal(1);
      expect(await askedWhile(fail)).to.equal(0);
      bench.wait(OPEN_MS);
      expect(await askedWhile(fail)).to.equal(1);
    });

    it("is asked by the next when the one request was given up by its caller", async () => {
      await trip();
      bench.wait(OPEN_MS);
      const caller = new AbortController();
      bench.source.script(() => caller.abort(), 500);
      await upstream.get("", { signal: caller.signal }).catch(() => {});
      await eventually(() => upstream.status().state === "up");
      expect(await askedWhile(fail)).to.equal(1);
      expect(await askedWhile(fail), "nobody has said that it lives").to.equal(0);
    });

    it("is left alone although its callers did not wait for all attempts", async () => {
      for (let left = 1; left <= 5; left++) {
        const caller = new AbortController();
        bench.source.script(500, () => caller.abort());
        await upstream.get("", { signal: caller.signal }).catch(() => {});
        await eventually(() => bench.lines.filter(({ event }) => event === "upstream.failed").length === left);
      }
      expect(await askedWhile(fail)).to.equal(0);
    });

    it("is left alone when its callers give up only just before its own time is over", async () => {
      const request = { method: "POST", path: "/", query: "", headers: {} } as const;
      const send = (signal = NEVER): Promise<unknown> =>
        upstream.send(request, { signal, maxBytes: 100, isRepeatable: false }).catch(() => {});
      for (const [waitedMs, asked] of [
        [4400, 1],
        [4600, 0],
      ] as const) {
        upstream = bench.open({ timeoutMs: 5000 });
        for (let left = 0; left < 5; left++) {
          const caller = new AbortController();
          bench.source.script(() => {
            bench.wait(waitedMs);
            caller.abort();
          });
          await send(caller.signal);
        }
        bench.source.script(500);
        expect(await askedWhile(() => send()), `after ${waitedMs} ms`).to.equal(asked);
      }
    });

    it("stays in use when answers lie in between", async () => {
      upstream = bench.open({ retries: 0 });
      const lines: Line[] = [500, 500, 500, 500, 404, 500, 500, 500, 500, 429, 500, 500, 500, 500];
      bench.source.script(...lines);
      for (const _ of lines) await get().catch(() => {});
      expect(bench.source.asked).to.have.length(lines.length);
      expect(upstream.status()).to.deep.equal({ state: "up" });
    });

    it("stays in use when one caller sends all at once what it cannot answer, and answers others", async () => {
      upstream = bench.open({ retries: 0 });
      for (let round = 0; round < 3; round += 1) {
        const held: (() => void)[] = [];
        bench.source.script((response) => void held.push(() => response.writeHead(500).end()));
        const all = Array.from({ length: 6 }, (_, at) => problemOf(upstream.get(`${at}`, { signal: NEVER })));
        await eventually(() => held.length === 6);
        bench.wait(10);
        for (const answer of held) answer();
        for (const { message } of await Promise.all(all)) expect(message).to.equal("Source answered with status 500");
        bench.source.script("{}");
        await get();
      }
      expect(upstream.status()).to.deep.equal({ state: "up" });
    });

    it("is left alone when nothing listens any more", async () => {
      const port = await findFreePort();
      upstream = bench.open({ url: `http://127.0.0.1:${port}` });
      for (let failed = 0; failed < 5; failed++)
        expect((await fail()).message).to.equal("Source could not be reached, or broke off");
      expect((await fail()).message).to.equal("Source has failed several times in a row");
    });
  });
});
