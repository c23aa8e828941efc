import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { createLineQuestions } from "../../../runtime/drivers/books/lines.ts";
import { prepareTables } from "../../../runtime/drivers/books/migration.ts";
import { createBookTables } from "../../../runtime/drivers/books/tables.ts";
import { createTermsReader } from "../../../runtime/drivers/books/terms.ts";
import { T, toSale } from "../../support/books/sales.ts";

const SALES = 6000;
const PAGE = 500;
const HOUR_MS = 3_600_000;

/** A sale in each hour, every other one of `roll`. @param toSet the set that has made a sale */
function openLines(toSet: (at: number) => string): ReturnType<typeof createLineQuestions> {
  const db = new DatabaseSync(":memory:");
  prepareTables(db);
  const service = (at: number): string => (at % 2 === 0 ? "roll" : "price");
  const sales = Array.from({ length: SALES }, (_, at) => at);
  createBookTables(db).take(sales.map((at) => toSale({ at: T + at * HOUR_MS, service: service(at), set: toSet(at) })));
  return createLineQuestions(db);
}

/** Reads all lines of `roll`, page by page. @returns the processor time that it took, in microseconds */
function timeOf(
  { lines }: ReturnType<typeof createLineQuestions>,
  order: "oldest-first" | "newest-first" = "oldest-first",
): number {
  const began = process.cpuUsage();
  const found: BookLine[] = [];
  for (let page: readonly BookLine[]; ; ) {
    page = lines({ service: "roll" }, { limit: PAGE, order, after: found.at(-1) });
    found.push(...page);
    if (page.length < PAGE) break;
  }
  const { user, system } = process.cpuUsage(began);
  const hours = found.map(({ at }) => (at - T) / HOUR_MS);
  const expected = Array.from({ length: SALES / 2 }, (_, at) => at * 2);
  expect(hours).to.deep.equal(order === "oldest-first" ? expected : expected.toReversed());
  return user + system;
}

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

  it("make the lines of a service no slower to read, however many sets have sold", () => {
    const [one, many] = [openLines(() => "set"), openLines((at) => `set-${at}`)];
    const least = (lines: typeof one): number => Math.min(...[1, 2, 3].map(() => timeOf(lines)));
    expect(least(many) / least(one)).to.be.below(3);
    expect(timeOf(many, "newest-first")).to.be.above(0);
  });
});
