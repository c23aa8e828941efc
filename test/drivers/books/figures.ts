import { expect } from "chai";
import type { BookLine, LineFilter } from "../../../runtime/core/books/books.ts";
import { type SaleEvent, saleId } from "../../../runtime/core/books/events.ts";
import type { FeeEvent } from "../../../runtime/core/books/fees.ts";
import { T, toSale, toSpent } from "../../support/books/sales.ts";
import type { BookStage } from "./suite.ts";

const HOUR = 3_600_000;

/** The promises of what stands beside a book's lines: fees and tallies. */
export function testFigures(open: () => BookStage): void {
  const all = (): readonly BookLine[] => open().books.lines({}, { limit: 100, order: "oldest-first" });

  it("enters what a transaction of the treasury has cost once, and sums it to the atom", async () => {
    const [sold, lost, anchor] = [`0x${"a1".repeat(32)}`, `0x${"b2".repeat(32)}`, "5VERv8NMvzbJMEkV8xnrLk"];
    const huge = 10n ** 20n + 7n;
    const solana = { network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", cost: 7000n, purpose: "anchor" } as const;
    const fees = [
      toSpent(sold, { about: "eip155:137:key" }),
      toSpent(sold, { cost: 1n }),
      toSpent(lost, { cost: huge, isReverted: true, at: T + HOUR }),
      toSpent(anchor, { ...solana, at: T + 2 * HOUR }),
    ];
    for (const fee of fees) await open().store.enter(fee, { key: `fee:${fee.transaction}`, value: fee.amount });
    await open().books.refresh();
    const { books } = open();
    expect(await open().store.get(`fee:${sold}`), "the entry is written all the same").to.equal("1");
    const { kind: _, id: __, ...first } = fees[0] as FeeEvent;
    expect(first).to.include({ amount: "21000", symbol: "POL", decimals: 18, about: "eip155:137:key" });
    expect(all(), "fees are no lines").to.have.length(0);
    const day = { from: T, to: T + 24 * HOUR };
    const [lone] = books.loneFees(day, { limit: 1 });
    expect([lone?.transaction, lone?.amount, lone?.isReverted]).to.deep.equal([lost, `${huge}`, true]);
    expect(books.loneFees(day, { limit: 9, after: lone }).map(({ transaction }) => transaction)).to.deep.equal([
      anchor,
    ]);
    const sum = (span: { from: number; to: number }): unknown[] =>
      books.feeSums(span).map(({ symbol, count, amount, isReverted }) => [symbol, count, amount, isReverted]);
    const both = [
      ["POL", 1, 21_000n, false],
      ["POL", 1, huge, true],
    ];
    expect(sum(day)).to.deep.equal([...both, ["SOL", 1, 7000n, false]]);
    expect(sum({ from: T, to: T + HOUR + 1 }), "part of an hour").to.deep.equal(both);
    expect(sum({ from: T + 3 * HOUR, to: T + 4 * HOUR })).to.deep.equal([]);
  });

  it("has the fee of a transaction in one of its lines, whatever is asked for", async () => {
    const ids = ["one", "two", "three"].map((key) => saleId(`eip155:8453:${key}`));
    const [tx, back, elsewhere] = [1, 2, 3].map((digit) => `0x${`${digit}`.repeat(64)}`) as [string, string, string];
    const [one, two, three] = ids.map((id) => toSale({ id, job: id, transaction: tx })) as [
      SaleEvent,
      SaleEvent,
      SaleEvent,
    ];
    const { network, asset, amount, payer } = one;
    const refund = { kind: "refund" as const, at: T + 1, service: "roll", network, asset, amount, payer };
    const events = [
      one,
      { ...two, service: "report" },
      { ...three, rail: "polygon", network: "eip155:137" },
      ...ids.map((id) => ({ ...refund, id: `refund_${id}`, job: id, transaction: back })),
      toSale({ transaction: elsewhere }),
      { kind: "reversal" as const, id: "reversal_1", at: T + 2, sale: one.id },
    ];
    const fees = [
      toSpent(tx, { network, about: "eip155:8453:two", cost: 10n }),
      toSpent(back, { network, purpose: "refund", cost: 200n }),
      toSpent(tx, { network: "eip155:137", cost: 3000n }),
    ];
    for (const event of [...events, ...fees]) await open().store.enter(event, { key: "key", value: 1 });
    await open().books.refresh();
    const { books } = open();
    const borne = [...books.fees(all())].map(([seq, fee]) => [all().find((line) => line.seq === seq)?.id, fee.amount]);
    expect(borne).to.deep.equal([
      [two.id, "10"],
      [three.id, "3000"],
      [`refund_${one.id}`, "200"],
    ]);
    const grouped = (filter: LineFilter): unknown[] =>
      books.feeGroups(filter, "service").map(({ group, network: of, amount: sum }) => [group, of, sum]);
    expect(grouped({})).to.have.deep.members([
      ["report", network, 10n],
      ["roll", network, 200n],
      ["roll", "eip155:137", 3000n],
    ]);
    expect(grouped({ service: "roll", to: T + 1 })).to.deep.equal([["roll", "eip155:137", 3000n]]);
  });

  it("has the fee of a transaction that has made a settlement true which another facilitator had reported falsely", async () => {
    const [told, real] = ["a", "b"].map((digit) => `0x${digit.repeat(64)}`) as [string, string];
    const sale = toSale({ id: saleId("eip155:137:key"), network: "eip155:137", transaction: told });
    const doubts = [
      { kind: "reversal" as const, id: "reversal_1", at: T + 1, sale: sale.id },
      { kind: "restoration" as const, id: "restoration_1", at: T + 2, sale: sale.id, transaction: real },
    ];
    const fee = toSpent(real, { about: "eip155:137:key" });
    for (const event of [sale, ...doubts, fee]) await open().store.enter(event, { key: "key", value: 1 });
    await open().books.refresh();
    const borne = [...open().books.fees(all())].map(([seq, { amount }]) => [
      all().find((one) => one.seq === seq)?.id,
      amount,
    ]);
    expect(borne).to.deep.equal([["restoration_1", "21000"]]);
    expect(
      open()
        .books.feeGroups({}, "service")
        .map(({ group, amount }) => [group, amount]),
    ).to.deep.equal([["roll", 21_000n]]);
  });

  it("adds tallies up", async () => {
    const minute = T / 60_000;
    const one = { minute, service: "roll", door: "rest" as const, rail: "", what: "challenge", count: 3 };
    await open().store.count([one, { ...one, minute: minute + 1, count: 4 }]);
    await open().store.count([one, { ...one, what: "refused:payment_expired", rail: "base", count: 1 }]);
    await open().books.refresh();
    const { minute: _, ...named } = one;
    const refused = { ...named, what: "refused:payment_expired", rail: "base", count: 1 };
    expect(open().books.tallies({ from: T, to: T + HOUR })).to.have.deep.members([{ ...named, count: 10 }, refused]);
    expect(open().books.tallies({ from: T, to: T + 60_000 })).to.have.deep.members([{ ...named, count: 6 }, refused]);
    expect(open().books.tallies({ from: T + HOUR, to: T + 2 * HOUR })).to.deep.equal([]);
  });
}
