import { mock } from "node:test";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import {
  createRailMonitor,
  type RailMonitor,
  type RailMonitorDeps,
} from "../../../runtime/core/payments/rail-monitor.ts";
import type { SupportedKind } from "../../../runtime/core/x402/x402.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";

const NOW = 1_767_225_600_000;

describe("a rail", () => {
  const rail = createScriptedRail();
  let monitor: RailMonitor;
  /** Says that something has changed. */
  let change: () => void;
  const watch = (listener: () => void): void => {
    change = listener;
  };
  const state = (): string | undefined => monitor.statuses().get("base")?.state;
  const fail = (code: "facilitator-unavailable" | "unavailable"): void => {
    rail.script.supported = () => {
      throw new Problem(code, "no");
    };
  };
  const create = (parts: Partial<RailMonitorDeps> = {}): RailMonitor =>
    createRailMonitor({
      rails: [rail],
      trust: { reasonAgainstAll: () => undefined, watch, refresh: async () => {} },
      onChange: async () => {},
      onError: () => {},
      clock: { now: () => NOW },
      ...parts,
    });
  beforeEach(() => {
    delete rail.script.supported;
    monitor = create();
  });
  afterEach(() => monitor.close());

  it("that is up stays up while its facilitator does not answer: that shows when a payment is verified", async () => {
    await monitor.start();
    fail("facilitator-unavailable");
    await monitor.start();
    expect(state()).to.equal("up");
  });

  it("that is up goes down as soon as it is certain that nothing can be paid there, and comes back", async () => {
    await monitor.start();
    fail("unavailable");
    await monitor.start();
    expect(monitor.statuses().get("base")).to.deep.equal({ state: "down", reason: "no", since: NOW });
    delete rail.script.supported;
    await monitor.start();
    expect(state()).to.equal("up");
  });

  it("that was down under the set before has been down since then, whatever the reason is now", async () => {
    fail("unavailable");
    const known = new Map([["base", { state: "down" as const, reason: "earlier", since: NOW - 50_000 }]]);
    const next = create({ known });
    await next.start();
    expect(next.statuses().get("base")).to.deep.equal({ state: "down", reason: "no", since: NOW - 50_000 });
    next.close();
  });

  it("that supports another version, scheme or network alone is down, and says so", async () => {
    const others = [{ x402Version: 1 }, { scheme: "upto" }, { network: "eip155:1" }];
    for (const other of others) {
      const kind = { x402Version: 2, scheme: "exact", network: "eip155:8453", ...other };
      const stranger = { ...rail, facilitator: { ...rail.facilitator, supported: async () => [kind] } };
      const strange = create({ rails: [stranger] });
      await strange.start();
      const reason = 'The facilitator does not support "exact" on eip155:8453';
      expect(strange.statuses().get("base"), JSON.stringify(other)).to.deep.equal({
        state: "down",
        reason,
        since: NOW,
      });
      strange.close();
    }
  });

  it("is offered with nothing of its facilitator's but who pays the fee: buyers would sign by what else it says", async () => {
    for (const [extra, kept] of [
      [{ assetTransferMethod: "permit2", name: "Fake", notes: "x".repeat(9000) }, {}],
      [{ feePayer: "payer", recentBlockhash: "1".repeat(32) }, { feePayer: "payer" }],
    ] as const) {
      rail.script.extra = extra;
      await monitor.start();
      expect(monitor.statuses().get("base")).to.deep.equal({ state: "up", extra: kept });
    }
    delete rail.script.extra;
  });

  it("is down while its facilitator is distrusted, and is not even asked about", async () => {
    const doubted = create({ trust: { reasonAgainstAll: () => "It lied", watch: () => {}, refresh: async () => {} } });
    const before = rail.asked.supported;
    await doubted.start();
    expect(doubted.statuses().get("base")).to.deep.equal({ state: "down", reason: "It lied", since: NOW });
    expect(rail.asked.supported).to.equal(before);
    doubted.close();
  });

  it("changes only once its change is on record, which is told once", async () => {
    const errors: unknown[] = [];
    const told: unknown[] = [];
    let gone = true;
    const strict = create({
      onError: (error) => errors.push(error),
      onChange: async (statuses) => {
        if (gone) throw new Error("the store is gone");
        told.push(statuses.get("base")?.state);
      },
    });
    await strict.start();
    expect(strict.statuses().get("base")).to.deep.equal({
      state: "down",
      reason: "The facilitator has not answered yet",
      since: NOW,
    });
    expect(errors).to.have.length(1);
    gone = false;
    await strict.start();
    await strict.start();
    expect([told, strict.statuses().get("base")?.state]).to.deep.equal([["up"], "up"]);
    strict.close();
  });

  it("has three seconds to be told about by its facilitator", async () => {
    const timeouts = mock.method(AbortSignal, "timeout");
    await monitor.start();
    expect(timeouts.mock.calls.map(({ arguments: [ms] }) => ms)).to.deep.equal([3000]);
    timeouts.mock.restore();
  });

  describe("in the background", () => {
    let time: FrozenTime;
    beforeEach(() => {
      time = freezeTime();
    });
    afterEach(() => time.thaw());
    /** How long after the last one the next question comes. */
    const untilAsked = async (stepMs: number): Promise<number> => {
      const before = rail.asked.supported;
      for (let waitedMs = stepMs; waitedMs <= 400_000; waitedMs += stepMs) {
        await time.pass(stepMs);
        if (rail.asked.supported > before) return waitedMs;
      }
      return expect.fail("nobody asks any more");
    };

    it("is asked about after 1, 2, 4, 8, 16 and then 32 seconds while it is down, and every 5 minutes while up", async () => {
      fail("unavailable");
      await monitor.start();
      const waits: number[] = [];
      for (let round = 0; round < 7; round += 1) waits.push(await untilAsked(500));
      expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 16_000, 32_000, 32_000]);
      delete rail.script.supported;
      expect(await untilAsked(500)).to.equal(32_000);
      expect(state()).to.equal("up");
      fail("unavailable");
      expect(await untilAsked(10_000)).to.equal(300_000);
      expect(await untilAsked(500), "it is down again").to.equal(1000);
    });

    it("is asked about at once when something has changed, and never after the end", async () => {
      await monitor.start();
      const before = rail.asked.supported;
      change();
      await time.pass(20);
      expect(rail.asked.supported).to.equal(before + 1);
      monitor.close();
      change();
      await time.pass(1_000_000);
      expect(rail.asked.supported).to.equal(before + 1);
    });

    it("is asked about soon when its change could not be put on record", async () => {
      let gone = false;
      const strict = create({
        onChange: async () => {
          if (gone) throw new Error("the store is gone");
        },
      });
      await strict.start();
      fail("unavailable");
      gone = true;
      change();
      await time.pass(20);
      expect(strict.statuses().get("base")?.state, "what is on record").to.equal("up");
      gone = false;
      await time.pass(1000);
      expect(strict.statuses().get("base")?.state).to.equal("down");
      strict.close();
    });

    it("does not wait for another one whose facilitator keeps silent", async () => {
      const silence = Promise.withResolvers<readonly SupportedKind[]>();
      const other = createScriptedRail({ id: "polygon" });
      const both = create({
        rails: [rail, { ...other, facilitator: { ...other.facilitator, supported: () => silence.promise } }],
      });
      const states = (): (string | undefined)[] => ["base", "polygon"].map((id) => both.statuses().get(id)?.state);
      const round = both.start();
      await time.pass(500);
      expect(states()).to.deep.equal(["up", "down"]);
      silence.resolve(await other.facilitator.supported(new AbortController().signal));
      await round;
      expect(states()).to.deep.equal(["up", "up"]);
      both.close();
    });

    it("is asked about by one round at a time, however often something changes meanwhile", async () => {
      const silence = Promise.withResolvers<void>();
      const slow = create({ trust: { reasonAgainstAll: () => undefined, watch, refresh: () => silence.promise } });
      const before = rail.asked.supported;
      const round = slow.start();
      for (let changes = 0; changes < 3; changes += 1) {
        change();
        await time.pass(20);
      }
      silence.resolve();
      await round;
      await time.pass(20);
      expect(rail.asked.supported, "once more after the changes").to.equal(before + 2);
      await time.pass(300_000);
      expect(rail.asked.supported, "and then every five minutes").to.equal(before + 3);
      slow.close();
    });

    it("is not asked about again by a round that was under way at the end", async () => {
      const answered = Promise.withResolvers<void>();
      const slow = create({
        trust: { reasonAgainstAll: () => undefined, watch: () => {}, refresh: () => answered.promise },
      });
      const round = slow.start();
      slow.close();
      answered.resolve();
      await round;
      const before = rail.asked.supported;
      await time.pass(1_000_000);
      expect(rail.asked.supported).to.equal(before);
    });
  });
});
