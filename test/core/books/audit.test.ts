import { expect } from "chai";
import { audit, type Transfer } from "../../../runtime/core/books/audit.ts";
import type { BookLine } from "../../../runtime/core/books/books.ts";
import { toSale } from "../../support/books/sales.ts";
import { problemOf } from "../../support/thrown.ts";

const HOUR_MS = 3_600_000;
const NOW = 1_800_000_000_000;
const clock = { now: (): number => NOW };

describe("the comparison of the book with the chain", () => {
  /** @param entered how often the book is read until it has the line; never, when omitted */
  async function compare({ ago, entered = Number.POSITIVE_INFINITY }: { ago: number; entered?: number }) {
    const at = NOW - ago;
    const line: BookLine = { ...toSale({ at, transaction: "0xpaid" }), seq: 1, of: null };
    const transfer: Transfer = { transaction: "0xpaid", from: "0xaa", to: "0xee", amount: 1000n, at };
    let waits = 0;
    const { unbooked } = await audit({
      chain: { begin: async () => 0, read: async () => [transfer], of: async () => [], isPayment: async () => true },
      receivers: ["0xee"],
      span: { from: at - HOUR_MS, to: at + HOUR_MS },
      lines: [],
      find: () => (waits >= entered ? [line] : []),
      again: async () => {
        waits += 1;
      },
      isDollar: true,
      clock,
    });
    return { unbooked: unbooked.length, waits };
  }

  it("waits for the entry of a payment that has just been made", async () => {
    expect(await compare({ ago: 500, entered: 2 })).to.deep.equal({ unbooked: 0, waits: 2 });
  });

  it("names refunds that did not pay their buyer what the book says: altered, entered twice, or never made", async () => {
    const toRefund = (seq: number, transaction: string, amount = "1000"): BookLine => {
      const sale = toSale({ transaction, amount, payer: `0x${seq}`, job: `job-${seq}` });
      return { ...sale, times: null, kind: "refund", id: `refund_${seq}`, seq, of: "sale" };
    };
    const paid = new Map(["right", "altered", "twice"].map((name) => [name, 1000n]));
    const twice = toRefund(3, "twice");
    const lines = [toRefund(1, "right"), toRefund(2, "altered", "999"), twice, { ...twice, id: "refund_4", seq: 4 }];
    lines.push(toRefund(5, "never"), { ...toRefund(6, "never"), payer: null }, toRefund(7, "shared"));
    const earlier = { ...toRefund(7, "shared"), id: "refund_8", seq: 8 };
    paid.set("shared", 2000n);
    const { missing, booked } = await audit({
      chain: {
        begin: async () => 0,
        read: async () => [],
        of: async (transaction, [to = ""]) =>
          paid.has(transaction) ? [{ transaction, from: "0xee", to, amount: paid.get(transaction)!, at: 0 }] : [],
        isPayment: async () => true,
      },
      receivers: ["0xee"],
      span: { from: 0, to: NOW },
      lines,
      find: (transaction) => [...lines, earlier].filter((line) => line.transaction === transaction),
      again: async () => {},
      isDollar: true,
      clock,
    });
    expect(booked).to.equal(0n);
    expect(missing).to.deep.equal([
      { transaction: "altered", booked: 999n, shown: 1000n, ids: ["refund_2"] },
      { transaction: "twice", booked: 2000n, shown: 1000n, ids: ["refund_3", "refund_4"] },
      { transaction: "never", booked: 1000n, shown: 0n, ids: ["refund_5"] },
    ]);
  });

  it("is none where the node shows a transfer that it does not list: it may leave out what is not in the book, too", async () => {
    const compareAt = (at: number): Promise<unknown> => {
      const line: BookLine = { ...toSale({ at, transaction: "0xpaid" }), seq: 1, of: null };
      const paid: Transfer = { transaction: "0xpaid", from: line.payer, to: line.receiver ?? "", amount: 1000n, at };
      const chain = { begin: async () => 0, read: async () => [], of: async () => [paid], isPayment: async () => true };
      const span = { from: at - HOUR_MS, to: at + HOUR_MS };
      const book = { lines: [line], find: () => [line], again: async () => {} };
      return audit({ chain, receivers: [paid.to], span, ...book, isDollar: true, clock });
    };
    const problem = await problemOf(compareAt(NOW - HOUR_MS));
    expect([problem.code, problem.message]).to.deep.equal([
      "upstream-failed",
      "The node shows the transfer in 0xpaid, and does not list it: what it lists is not whole",
    ]);
    expect(await compareAt(NOW - 30_000), "a moment ago: the node may be some blocks behind").to.include({ sales: 1 });
  });

  it("balances what one facilitator has reported falsely and another one has settled", async () => {
    const sale = toSale({ at: NOW, transaction: "0xlie" });
    const toLine = (seq: number, kind: BookLine["kind"], transaction: string): BookLine => {
      return { ...sale, times: null, kind, id: `${kind}_${seq}`, seq, of: seq === 1 ? null : sale.id, transaction };
    };
    const lines = [toLine(1, "sale", "0xlie"), toLine(2, "reversal", "0xlie"), toLine(3, "restoration", "0xpaid")];
    const paid: Transfer = { transaction: "0xpaid", from: "0xaa", to: "0xee", amount: 1000n, at: NOW };
    const compare = (shown: readonly Transfer[]) =>
      audit({
        chain: { begin: async () => 0, read: async () => shown, of: async () => [], isPayment: async () => true },
        receivers: ["0xee"],
        span: { from: 0, to: NOW + 1 },
        isDollar: true,
        lines,
        find: (transaction) => lines.filter((line) => line.transaction === transaction),
        again: async () => {},
        clock: { now: () => 2 * NOW },
      });
    const nothing = { missing: [], altered: [], unbooked: [], others: [] };
    expect(await compare([paid])).to.deep.equal({ sales: 1, booked: 1000n, received: 1000n, ...nothing });
    expect((await compare([])).missing, "and names what is not there").to.deep.equal([
      { transaction: "0xpaid", booked: 1000n, shown: 0n, ids: ["restoration_3"] },
    ]);
  });

  it("asks of no sale that was taken back who has paid: the transaction that a facilitator had named is another buyer's", async () => {
    const paid: Transfer = { transaction: "0xpaid", from: "0xaa", to: "0xee", amount: 1000n, at: NOW };
    const sale = { ...toSale({ at: NOW, transaction: "0xpaid", payer: "0xbb" }), times: null, of: null };
    const lines: BookLine[] = [
      { ...sale, kind: "sale", id: "honest", seq: 1, payer: "0xaa" },
      { ...sale, kind: "sale", id: "lie", seq: 2 },
      { ...sale, kind: "reversal", id: "reversal", seq: 3, of: "lie" },
    ];
    const compare = (known: readonly BookLine[]) =>
      audit({
        chain: { begin: async () => 0, read: async () => [paid], of: async () => [], isPayment: async () => true },
        receivers: ["0xee"],
        span: { from: 0, to: NOW + 1 },
        isDollar: true,
        lines: known,
        find: () => known,
        again: async () => {},
        clock,
      });
    expect(await compare(lines)).to.deep.include({ missing: [], altered: [] });
    expect((await compare(lines.slice(1, 2))).altered, "not taken back").to.have.length(1);
    const restoration: BookLine = { ...sale, kind: "restoration", id: "restoration", seq: 4, of: "lie" };
    expect((await compare([...lines, restoration])).altered, "counts again").to.have.length(1);
    const again: BookLine = { ...sale, kind: "reversal", id: "again", seq: 5, of: "lie" };
    expect((await compare([...lines, restoration, again])).altered, "and not any more").to.have.length(0);
  });

  it("takes what was paid back to a receiving address, which had bought, for no payment", async () => {
    const refund = toSale({ transaction: "0xback", payer: "0xee", receiver: "0xEE", job: "job" });
    const line: BookLine = { ...refund, times: null, kind: "refund", id: "refund", seq: 1, of: "sale" };
    const compareAt = (to: string) => {
      const back: Transfer = { transaction: "0xback", from: "0xee", to, amount: 1000n, at: NOW - HOUR_MS };
      return audit({
        chain: { begin: async () => 0, read: async () => [back], of: async () => [back], isPayment: async () => true },
        receivers: ["0xEE", "0xFF"],
        span: { from: 0, to: NOW },
        lines: [line],
        find: (transaction) => (transaction === "0xback" ? [line] : []),
        again: async () => {},
        isDollar: true,
        clock,
      });
    };
    expect(await compareAt("0xEE")).to.deep.include({ missing: [], unbooked: [], others: [] });
    expect((await compareAt("0xFF")).unbooked, "paid to somebody else").to.have.length(1);
  });

  it("misses no sale in a refund of the treasury to itself, which is not entered yet", async () => {
    const back: Transfer = { transaction: "0xback", from: "0xee", to: "0xEE", amount: 1000n, at: NOW - 500 };
    const found = await audit({
      chain: { begin: async () => 0, read: async () => [back], of: async () => [], isPayment: async () => true },
      receivers: ["0xEE"],
      span: { from: 0, to: NOW },
      lines: [],
      find: () => [],
      again: async () => {},
      isDollar: true,
      clock,
    });
    expect(found).to.deep.include({ unbooked: [], others: [back] });
  });

  it("waits for a node that is behind the book, and names a sale or refund that it never shows", async () => {
    for (const [kind, ago, reads, missed] of [
      ["sale", 500, 3, 0],
      ["sale", 500, 99, 1],
      ["sale", HOUR_MS, 2, 1],
      ["refund", 500, 3, 0],
      ["refund", 500, 99, 1],
      ["refund", HOUR_MS, 2, 1],
    ] as const) {
      const line: BookLine = { ...toSale({ at: NOW - ago }), kind, seq: 1, of: null };
      const { transaction, at } = line;
      let read = 0;
      const { missing } = await audit({
        chain: {
          begin: async () => 0,
          read: async () => [],
          of: async () => (++read < reads ? [] : [{ transaction, from: null, to: "0xee", amount: 1000n, at }]),
          isPayment: async () => true,
        },
        receivers: ["0xee"],
        span: { from: 0, to: NOW },
        lines: [line],
        find: () => [line],
        again: async () => {},
        isDollar: true,
        clock,
      });
      expect(missing.length, `a ${kind} of ${ago} ms ago, shown at the reading ${reads}`).to.equal(missed);
    }
  });

  it("names a payment that is not entered in the end, and an old one at once", async () => {
    expect(await compare({ ago: 500 })).to.deep.equal({ unbooked: 1, waits: 4 });
    expect(await compare({ ago: HOUR_MS })).to.deep.equal({ unbooked: 1, waits: 0 });
  });
});
