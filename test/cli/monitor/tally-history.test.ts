import { expect } from "chai";
import { createTallyHistory } from "../../../runtime/cli/monitor/tally-history.ts";
import type { Span, TallySum } from "../../../runtime/core/books/books.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.UTC(2026, 5, 15, 12, 30);

describe("the tallies of a long span", () => {
  const asked: Span[] = [];
  const books = {
    tallies: (span: Span): readonly TallySum[] => {
      asked.push(span);
      return [{ service: "roll", door: "rest", rail: "base", what: "result", count: 2 }];
    },
  };
  beforeEach(() => {
    asked.length = 0;
  });

  it("are read a day at a time with the hours around, and what was over a day ago once only", async () => {
    const history = createTallyHistory(() => NOW);
    const to = Math.ceil(NOW / HOUR_MS) * HOUR_MS;
    const span = { from: to - 30 * 24 * HOUR_MS, to };
    const [sum, ...others] = await history.read(books, span);
    expect(sum).to.deep.include({ service: "roll", what: "result", count: 2 * (1 + 29 + 1) });
    expect(others).to.deep.equal([]);
    expect(asked.map(({ from, to }) => (to - from) / HOUR_MS)).to.deep.equal([11, ...Array(29).fill(24), 13]);
    for (const [at, { from }] of asked.entries()) expect(from).to.equal(at === 0 ? span.from : asked[at - 1]?.to);
    asked.length = 0;
    expect((await history.read(books, span))[0]?.count).to.equal(2 * (1 + 29 + 1));
    const midnight = to - 13 * HOUR_MS;
    expect(asked, "what is not over for a day").to.deep.equal([
      { from: midnight - 24 * HOUR_MS, to: midnight },
      { from: midnight, to },
    ]);
  });

  it("are read again where they may be written late: after an outage of the store, or with a clock set back", async () => {
    let now = Date.UTC(2026, 5, 15, 0, 5);
    const history = createTallyHistory(() => now);
    const [from, midnight] = [Date.UTC(2026, 5, 14), Date.UTC(2026, 5, 15)];
    for (const later of [0, HOUR_MS, 22 * HOUR_MS]) {
      now += later;
      asked.length = 0;
      await history.read(books, { from, to: midnight });
      expect(asked).to.deep.equal([{ from, to: midnight }]);
    }
  });

  it("are there before the first look when they were read in advance", async () => {
    const history = createTallyHistory(() => NOW);
    await history.warm(books);
    asked.length = 0;
    const to = Math.ceil(NOW / HOUR_MS) * HOUR_MS;
    for (const days of [30, 60])
      await history.read(books, { from: to - days * 24 * HOUR_MS, to: to - (days - 30) * 24 * HOUR_MS });
    expect(asked.length, "parts of days that are not whole, and yesterday").to.equal(5);
  });
});
