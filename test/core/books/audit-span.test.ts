import { expect } from "chai";
import { type Audit, audit, type Transfer } from "../../../runtime/core/books/audit.ts";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { toSale } from "../../support/books/sales.ts";

const MINUTE_MS = 60_000;
const NOW = 1_800_000_000_000;
const FROM = NOW - 10 * MINUTE_MS;
const TO = NOW - 5 * MINUTE_MS;

describe("the comparison of a span of the book with the chain", () => {
  let book: BookLine[];
  let transfers: Transfer[];
  /** The transactions that the chain was asked about one by one. */
  let asked: string[];
  beforeEach(() => {
    [book, transfers, asked] = [[], [], []];
  });

  const enter = (transaction: string, at: number, kind: BookLine["kind"] = "sale"): void => {
    const seq = book.length + 1;
    book.push({ ...toSale({ transaction, at }), kind, id: `${kind}_${seq}`, seq, of: null });
  };
  const move = (transaction: string, at: number): void =>
    void transfers.push({ transaction, from: "0xaa", to: "0xee", amount: 1000n, at });
  const compare = (): Promise<Audit> =>
    audit({
      chain: {
        begin: async () => 0,
        read: async (_, { from, to }) => transfers.filter(({ at }) => at >= from && at < to),
        async of(transaction) {
          asked.push(transaction);
          return transfers.filter((one) => one.transaction === transaction);
        },
        isPayment: async () => true,
      },
      receivers: ["0xee"],
      span: { from: FROM, to: TO },
      lines: book.filter(({ at }) => at >= FROM && at < TO),
      find: (transaction) => book.filter((line) => line.transaction === transaction),
      again: async () => expect.fail("nothing is recent"),
      isDollar: true,
      clock: { now: () => NOW },
    });

  it("finds what was entered some time after its block in one reading, within an hour of the span", async () => {
    move("0x1", FROM - 59 * MINUTE_MS);
    enter("0x1", FROM);
    move("0x2", TO + 59 * MINUTE_MS); // A clock that is behind.
    enter("0x2", TO - 1);
    expect(await compare()).to.deep.include({ sales: 2, booked: 2000n, received: 2000n, missing: [], unbooked: [] });
    expect(asked).to.deep.equal([]);
  });

  it("leaves what moved outside of the span to the comparison of that one", async () => {
    for (const at of [FROM - 1, FROM, TO - 1, TO]) move(`0x${at}`, at);
    expect((await compare()).unbooked.map(({ at }) => at)).to.deep.equal([FROM, TO - 1]);
  });

  it("counts of a transaction with many payments those of the span, and compares it as a whole", async () => {
    for (let payment = 0; payment < 2; payment += 1) move("0x1", FROM - 1);
    enter("0x1", FROM - 1);
    enter("0x1", FROM);
    expect(await compare()).to.deep.include({ sales: 1, booked: 1000n, received: 1000n, missing: [] });
    enter("0x1", TO);
    const { missing, received } = await compare();
    expect(missing.map(({ booked, shown, ids }) => [booked, shown, ids])).to.deep.equal([[3000n, 2000n, ["sale_2"]]]);
    expect(received, "what the chain shows").to.equal(2000n);
  });

  it("names a sale whose transaction pays another one, which was entered before the span", async () => {
    for (const at of [FROM - 1, FROM - 61 * MINUTE_MS]) {
      [book, transfers] = [[], []];
      move("0x1", at);
      enter("0x1", at);
      enter("0x1", FROM);
      const { missing, received } = await compare();
      expect(missing.map(({ booked, shown, ids }) => [booked, shown, ids])).to.deep.equal([[2000n, 1000n, ["sale_2"]]]);
      expect(received, "what the chain shows").to.equal(1000n);
    }
  });

  it("asks for no transaction that was taken back, as it is on no chain", async () => {
    enter("0x1", FROM);
    enter("0x1", FROM, "reversal");
    move("0x2", FROM - 61 * MINUTE_MS); // It had been named for a second payment.
    enter("0x2", FROM - 60 * MINUTE_MS);
    enter("0x2", FROM);
    enter("0x2", FROM, "reversal");
    expect(await compare()).to.deep.include({ sales: 0, booked: 0n, received: 0n, missing: [] });
    expect(asked).to.deep.equal([]);
  });
});
