import { expect } from "chai";
import type { HistoryEntry } from "../../../../runtime/cli/history/history.ts";
import { toDistinct } from "../../../../runtime/cli/serve/change/changes.ts";

const sold = (what: HistoryEntry["what"], digest: string): HistoryEntry => ({
  digest,
  what,
  at: "2026-01-01T00:00:00Z",
  by: "a",
  changes: [],
});

describe("the sets that a shop can go back to", () => {
  it("are those before the last rollback's, so that going back twice by one equals going back by two", () => {
    const three = [sold("start", "one"), sold("apply", "two"), sold("apply", "three")];
    expect(toDistinct(three, "three")).to.deep.equal(["one", "two"]);
    expect(toDistinct([...three, sold("rollback", "two")], "two")).to.deep.equal(["one"]);
    expect(toDistinct([...three, sold("rollback", "one"), sold("apply", "four")], "four")).to.deep.equal(["one"]);
  });

  it("have each set once where it was started several times", () => {
    const again = [sold("start", "one"), sold("apply", "two"), sold("start", "two"), sold("start", "two")];
    expect(toDistinct(again, "two")).to.deep.equal(["one"]);
  });
});
