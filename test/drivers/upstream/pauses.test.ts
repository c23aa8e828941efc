import { setImmediate as breathe } from "node:timers/promises";
import { expect } from "chai";
import { delay } from "../../../runtime/drivers/http/retry.ts";
import { createAttempts } from "../../../runtime/drivers/upstream/attempts.ts";
import { createPace } from "../../../runtime/drivers/upstream/pace.ts";
import { createLogBook } from "../../support/http.ts";
import { NEVER } from "../../support/sources/live-upstream.ts";

/** How much too early a timer may fire. */
const EARLY_MS = 2;

describe("the pauses between attempts", () => {
  /** When attempts were made. */
  let made: number[];
  beforeEach(() => {
    made = [];
  });

  /** Fails three times and is then answered. */
  const make = (options: { pauseMs?: number; retryAfterMs?: number; signal?: AbortSignal }): Promise<string> => {
    const { pauseMs = 0, retryAfterMs, signal = NEVER } = options;
    const clock = { now: () => 0 };
    const pace = createPace({ rate: undefined, clock, pause: delay });
    const terms = { retries: 3, pauseMs, pace, pause: delay, clock, log: createLogBook() };
    const attempts = createAttempts({ id: "a", title: "A", ...terms });
    return attempts.make(
      async () => {
        made.push(performance.now());
        const setback = { reason: "says no", isAlive: false, retryAfterMs };
        return made.length <= 3 ? { setback } : { value: "answer" };
      },
      { signal },
    );
  };
  const pauses = (): number[] => made.slice(1).map((at, before) => at - (made[before] ?? 0) + EARLY_MS);

  it("are doubled each time, and at most a quarter shorter than that", async () => {
    expect(await make({ pauseMs: 40 })).to.equal("answer");
    expect(pauses()).to.have.length(3);
    for (const [at, pause] of pauses().entries()) expect(pause).to.be.at.least(40 * 2 ** at * 0.75);
  });

  it("are no shorter than the upstream has asked for", async () => {
    expect(await make({ retryAfterMs: 300 })).to.equal("answer");
    expect(pauses()).to.have.length(3);
    for (const pause of pauses()) expect(pause).to.be.at.least(300);
  });

  it("end at once for a caller who leaves", async () => {
    const caller = new AbortController();
    const left = make({ pauseMs: 2000, signal: caller.signal }).catch((reason: unknown) => reason);
    await breathe();
    caller.abort("gone");
    let isOver = false;
    void left.then(() => {
      isOver = true;
    });
    await breathe();
    await breathe();
    expect([isOver, await left, made.length]).to.deep.equal([true, "gone", 1]);
  });
});
