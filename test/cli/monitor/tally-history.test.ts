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

  it("are read a day at a time with the hours around, and what is over once only", async () => {
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
    expect(asked, "today, which is not over").to.deep.equal([{ from: to - 13 * HOUR_MS, to }]);
  });

  it("are there before the first look when they were read in advance", async () => {
    const history = createTallyHistory(() => NOW);
    await history.warm(books);
    asked.length = 0;
    const to = Math.ceil(NOW / HOUR_MS) * HOUR_MS;
    for (const days of [30, 60])
      await history.read(books, { from: to - days * 24 * HOUR_MS, to: to - (days - 30) * 24 * HOUR_MS });
    expect(asked.length, "parts of days that are not whole").to.equal(4);
  });
});
