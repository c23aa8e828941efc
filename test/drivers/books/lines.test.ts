import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { FOUND_MOST } from "../../../runtime/core/books/books.ts";
import { createLineQuestions } from "../../../runtime/drivers/books/lines.ts";
import { prepareTables } from "../../../runtime/drivers/books/migration.ts";
import { createBookTables } from "../../../runtime/drivers/books/tables.ts";
import { toSale } from "../../support/books/sales.ts";

/** A book whose buyer gives each call the same request id. */
function openLines(sales: number): ReturnType<typeof createLineQuestions> {
  const db = new DatabaseSync(":memory:");
  prepareTables(db);
  createBookTables(db).take(Array.from({ length: sales }, () => toSale({ requestId: "of-an-agent" })));
  return createLineQuestions(db);
}

describe("the lines of a book with one request id", () => {
  it("are found at one cost, however many there are, the oldest first", () => {
    const [some, many] = [openLines(FOUND_MOST), openLines(20_000)];
    const timeOf = ({ find }: typeof some): number => {
      const began = process.cpuUsage();
      const found = Array.from({ length: 10 }, () => find("of-an-agent")); // One alone is near the clock's precision.
      const { user, system } = process.cpuUsage(began);
      const numbers = found[0]?.map(({ seq }) => seq);
      expect(numbers).to.deep.equal(Array.from({ length: FOUND_MOST }, (_, at) => at + 1));
      return user + system;
    };
    const least = (lines: typeof some): number => Math.min(...[1, 2, 3, 4].map(() => timeOf(lines)));
    expect(least(many) / least(some)).to.be.below(8);
  });
});
