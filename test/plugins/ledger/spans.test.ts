import { expect } from "chai";
import { readInParts, type SpanWork } from "../../../plugins/ledger/chain/spans.ts";
import { Problem } from "../../../runtime/api/problem.ts";

const MONTH = 30 * 43_200;
const refusal = (): Problem => new Problem("upstream-failed", "Too many blocks");
const tooMany = (retryAfter: number): Problem => new Problem("upstream-failed", "Slow down", { retryAfter });

describe("a long span of blocks", () => {
  /** Reads a month. Gives the parts that were read, and how many questions that took. */
  async function readMonth(
    read: SpanWork["read"],
    more: Partial<SpanWork> = {},
  ): Promise<{ parts: number[]; asked: number }> {
    const parts: number[] = [];
    let asked = 0;
    let reported = 0;
    await readInParts(
      { first: 1, last: MONTH },
      {
        async read(span) {
          asked++;
          await read(span);
          parts.push(span.last - span.first + 1);
        },
        report: (blocks) => {
          reported = blocks;
        },
        signal: new AbortController().signal,
        longestPauseSeconds: 5,
        ...more,
      },
    );
    expect(parts.reduce((sum, part) => sum + part, 0)).to.equal(MONTH);
    expect(reported).to.equal(MONTH);
    return { parts, asked };
  }
  const allow =
    (most: number): SpanWork["read"] =>
    async ({ first, last }) => {
      if (last - first + 1 > most) throw refusal();
    };

  for (const most of [10_000, 5000, 2000, 1000, 500])
    it(`takes few questions more than it must from a node that allows ${most} blocks`, async () => {
      const { asked } = await readMonth(allow(most));
      expect(asked).to.be.below((1.15 * MONTH) / most + 60);
    });

  it("is read at the same size again after a pause that the node asks for", async () => {
    let refused = 0;
    const { parts } = await readMonth(async () => {
      if (++refused === 5) throw tooMany(0.01);
    });
    expect(Math.min(...parts.slice(0, -1))).to.be.at.least(10_000 - 1);
  });

  it("is given up when the node asks for a pause that is too long, or for one too often", async () => {
    for (const pause of [6, 0.001]) {
      let asked = 0;
      const read = async (): Promise<never> => {
        asked++;
        throw tooMany(pause);
      };
      const error = await readMonth(read).catch((error: unknown) => error);
      expect(error).to.have.property("code", "upstream-failed");
      expect(asked).to.be.at.most(pause === 6 ? 6 : 66);
    }
  });

  it("is refused as soon as the pace shows that it takes longer than its budget, with what can be read", async () => {
    let now = 0;
    let readable = 0;
    const toTooSlow = (blocks: number): Problem => {
      readable = blocks;
      return new Problem("invalid-input");
    };
    const slow = async (span: { first: number; last: number }): Promise<void> => {
      await allow(1000)(span);
      now += 100; // One question at a time: 10 000 blocks in a second.
    };
    const error = await readMonth(slow, { budget: { ms: 45_000, now: () => now, toTooSlow } }).catch((error) => error);
    expect(error).to.have.property("code", "invalid-input");
    expect(now, "milliseconds until it is refused").to.be.within(8000, 10_000);
    expect(readable).to.be.within(300_000, 460_000);
  });

  it("is refused when pauses and failures use up its budget: with what was read, or as the node has failed", async () => {
    for (const readable of [0, 40]) {
      let now = 0;
      let asked = 0;
      const read = async (span: { first: number; last: number }): Promise<void> => {
        asked++;
        now += 100;
        if (asked > readable) throw tooMany(4);
        await allow(10_000)(span);
      };
      const pause = async (ms: number): Promise<void> => {
        now += ms;
      };
      const toTooSlow = (blocks: number): Problem => new Problem("invalid-input", `${blocks > 0}`);
      const budget = { ms: 45_000, now: () => now, toTooSlow };
      const error = await readMonth(read, { budget, pause }).catch((error: unknown) => error);
      expect(error).to.include(
        readable === 0 ? { code: "upstream-failed" } : { code: "invalid-input", message: "true" },
      );
      expect(now).to.be.at.most(45_000 + 6 * 4100);
    }
  });

  it("is not refused when the pace is enough", async () => {
    let now = 0;
    const quick = async (span: { first: number; last: number }): Promise<void> => {
      await allow(1000)(span);
      now += 25;
    };
    await readMonth(quick, { budget: { ms: 45_000, now: () => now, toTooSlow: () => new Problem("invalid-input") } });
  });
});
