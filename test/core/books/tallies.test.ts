import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { BookTally } from "../../../runtime/core/books/events.ts";
import { createTallies, type Tallies, type TallyNames } from "../../../runtime/core/books/tallies.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";

const FAILED: TallyNames = { service: "roll", door: "rest", rail: "base", what: "failed:unavailable" };
const RESULT: TallyNames = { ...FAILED, what: "result" };

describe("the tallies of calls while the store takes no writes", () => {
  let isAway: boolean;
  let written: BookTally[];
  let largest: number;
  let shown: BookTally[];
  let warnings: string[];
  let tallies: Tallies;
  beforeEach(() => {
    [isAway, written, largest, shown, warnings] = [true, [], 0, [], []];
    tallies = createTallies({
      store: {
        async count(some) {
          if (isAway) throw new Problem("unavailable", "Redis is full and takes no writes");
          written.push(...some);
          largest = Math.max(largest, some.length);
        },
      },
      onCounted: (some) => shown.push(...some),
      clock: { now: () => 90_000 },
      log: { ...silentLog, warn: (event) => warnings.push(event) },
    });
  });
  const sum = (counted: readonly BookTally[], { what }: TallyNames): number =>
    counted.filter((one) => one.what === what).reduce((all, { count }) => all + count, 0);
  const count = (...all: TallyNames[]): Promise<void> => {
    for (const names of all) tallies.count(names);
    return tallies.flush();
  };

  it("wait for it, since the failures of an outage are what the seller looks for", async () => {
    await count(FAILED, FAILED);
    await count(FAILED);
    expect(written).to.deep.equal([]);
    isAway = false;
    await count(RESULT);
    expect([sum(written, FAILED), sum(written, RESULT)]).to.deep.equal([3, 1]);
    expect(written.map(({ minute }) => minute)).to.deep.equal([1, 1]);
    await tallies.flush();
    expect(sum(written, FAILED), "written once").to.equal(3);
  });

  it("are in the metrics once, and at once", async () => {
    await count(FAILED, FAILED);
    expect(sum(shown, FAILED)).to.equal(2);
    await count(FAILED);
    isAway = false;
    await tallies.flush();
    expect(sum(shown, FAILED)).to.equal(3);
  });

  it("are one warning for each outage", async () => {
    await count(FAILED);
    await count(FAILED);
    isAway = false;
    await tallies.flush();
    isAway = true;
    await count(FAILED);
    expect(warnings).to.deep.equal(["books.tallies-wait", "books.tallies-wait"]);
  });

  it("are bounded, and are written some at a time", async () => {
    const ids = Array.from({ length: 10_500 }, (_, at) => ({ ...FAILED, service: `service-${at}` }));
    await count(...ids);
    isAway = false;
    await tallies.flush();
    expect(written).to.have.lengthOf(10_000);
    expect(largest).to.equal(1000);
  });
});
