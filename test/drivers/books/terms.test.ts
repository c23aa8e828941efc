import type { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { createTermsReader } from "../../../runtime/drivers/books/terms.ts";

describe("the terms of a book's lines", () => {
  it("are read once, and a thousand are kept: each set that is applied has others", () => {
    const reads: number[] = [];
    const get = (id: number): object => ({ service: `service-${reads.push(id)}` });
    const termsOf = createTermsReader({ prepare: () => ({ get }) } as unknown as DatabaseSync);
    const ids = Array.from({ length: 1000 }, (_, at) => at);
    for (const id of [...ids, ...ids]) termsOf(id);
    expect(reads).to.deep.equal(ids);
    for (const id of [1000, 1000, 0]) termsOf(id);
    expect(reads.slice(1000), "the first thousand made room").to.deep.equal([1000, 0]);
  });
});
