import { expect } from "chai";
import type { BookLine, BookSum, Books } from "../../../runtime/core/books/books.ts";
import { refundId, reversalId, saleId } from "../../../runtime/core/books/events.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { T, toSale } from "../../support/books/sales.ts";
import { testFigures } from "./figures.ts";

/** A store, and its book as somebody else reads it. */
export interface BookStage {
  readonly store: OpenStore;
  readonly books: Books;
}

const HOUR = 3_600_000;

/** The promises of a book, whichever store it stands in. */
export function testBooks(open: () => Promise<BookStage>): void {
  let stage: BookStage;
  beforeEach(async () => {
    stage = await open();
  });
  afterEach(async () => {
    await stage.books.close();
    await stage.store.close();
  });

  let keys = 0;
  const enter = async (...events: Parameters<OpenStore["enter"]>[0][]): Promise<void> => {
    for (const event of events)
      await stage.store.enter(event, { key: `payment:${++keys}`, value: { state: "settled" } });
    await stage.books.refresh();
  };
  const all = (): readonly BookLine[] => stage.books.lines({}, { limit: 100, order: "oldest-first" });
  const sum = (options: Partial<Parameters<Books["sums"]>[1]> = {}): readonly BookSum[] =>
    stage.books.sums({ from: T, to: T + 24 * HOUR }, { own: [], by: [], ...options });

  it("enters a sale once, with the entry that it belongs to, however often it is written", async () => {
    const sale = toSale();
    for (const value of ["settled", "delivered"]) {
      await stage.store.enter(sale, { key: "payment:x", value, ttlMs: 60_000, durability: "lazy" });
      expect(await stage.store.get("payment:x")).to.equal(value);
    }
    await stage.books.refresh();
    const { seq, of, kind, ...line } = all()[0] as BookLine;
    expect([of, kind, all().length]).to.deep.equal([null, "sale", 1]);
    const { kind: _, times, ...given } = sale;
    expect(line).to.deep.equal({ ...given, times: null });
    expect(stage.books.find(sale.id)[0]?.times).to.deep.equal(times);
    expect(sum()[0]).to.include({ count: 1, amount: 1000n, nanoUsd: 1_000_000n, kind: "sale" });
  });

  it("enters nothing when the entry is refused", async () => {
    const refused = await stage.store
      .enter(toSale(), { key: "x".repeat(600), value: 1 })
      .catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TypeError);
    await stage.books.refresh();
    expect(all()).to.have.length(0);
  });

  it("gives a refund, a reversal and a restoration the terms of their sale", async () => {
    const sale = toSale({ job: "job-1", door: "mcp", service: "report" });
    const { network, asset, amount, payer } = sale;
    const refund = { kind: "refund" as const, id: refundId("job-1"), at: T + 1, job: "job-1", service: "report" };
    await enter(sale, { ...refund, network, asset, amount, payer, transaction: "0xback" });
    const lie = toSale();
    const back = { kind: "reversal" as const, id: reversalId("reversal", lie.id), at: T + 2, sale: lie.id };
    const again = { kind: "restoration" as const, id: reversalId("restoration", lie.id), at: T + 3, sale: lie.id };
    await enter(lie, back, back, { ...again, transaction: "0xother" });
    expect(
      all().map(({ kind, of, service, door, transaction }) => ({ kind, of, service, door, transaction })),
    ).to.deep.equal([
      { kind: "sale", of: null, service: "report", door: "mcp", transaction: sale.transaction },
      { kind: "sale", of: null, service: "roll", door: "rest", transaction: lie.transaction },
      { kind: "refund", of: sale.id, service: "report", door: "mcp", transaction: "0xback" },
      { kind: "reversal", of: lie.id, service: "roll", door: "rest", transaction: lie.transaction },
      { kind: "restoration", of: lie.id, service: "roll", door: "rest", transaction: "0xother" },
    ]);
    const counts = Object.fromEntries(sum().map(({ kind, count }) => [kind, count]));
    expect(counts).to.deep.equal({ sale: 2, refund: 1, reversal: 1, restoration: 1 });
    expect(stage.books.buyers(5)).to.deep.equal([
      { payer: "0xaa", firstAt: T, lastAt: T + 3, count: 2, nanoUsd: 1_000_000n },
    ]);
  });

  it("enters the refund of a sale that is not in the book, and no reversal of one", async () => {
    const refund = { kind: "refund" as const, id: refundId("job-0"), at: T, job: "job-0", service: "report" };
    const sale = saleId("never");
    await enter(
      { ...refund, network: "eip155:137", asset: "0xYEN", amount: "5", payer: "0xbb", transaction: "0x1" },
      { kind: "reversal", id: reversalId("reversal", sale), at: T, sale },
    );
    expect(all()).to.have.length(1);
    expect(all()[0]).to.include({
      kind: "refund",
      of: null,
      door: null,
      rail: "eip155:137",
      decimals: null,
      usd: null,
    });
  });

  it("sums amounts of 18 decimals to the atom, by hour, service, door and rail", async () => {
    const yen = { rail: "polygon", network: "eip155:137", asset: "0xYEN", decimals: 18, usd: "5.00" };
    const amounts = ["1000000000000000000001", "999999999999999999999", "7"];
    await enter(
      ...amounts.map((amount, at) => toSale({ ...yen, amount, at: T + at * HOUR, door: at ? "a2a" : "rest" })),
    );
    expect(sum().map(({ amount }) => amount)).to.deep.equal([2000000000000000000007n]);
    const split = sum({ by: ["service", "door", "rail"], bucketMs: HOUR });
    expect(split.map(({ at, door, rail, amount }) => [at, door, rail, amount])).to.deep.equal([
      [T, "rest", "polygon", 1000000000000000000001n],
      [T + HOUR, "a2a", "polygon", 999999999999999999999n],
      [T + 2 * HOUR, "a2a", "polygon", 7n],
    ]);
  });

  it("sums a span whose amounts of 18 decimals exceed 64 bits: tokens of which a call costs very many", async () => {
    const amount = "999999999999999999999999999";
    const days = 12;
    await enter(...Array.from({ length: days }, (_, at) => toSale({ amount, decimals: 18, at: T + at * 24 * HOUR })));
    const total = BigInt(days) * BigInt(amount);
    const sums = stage.books.sums({ from: T, to: T + days * 24 * HOUR }, { own: [], by: [] });
    expect(sums.map((each) => each.amount)).to.deep.equal([total]);
    const groups = stage.books.groups({}, { own: [], by: "service" });
    expect(groups.map((each) => each.amount)).to.deep.equal([total]);
  });

  it("keeps what the seller's own wallets have paid apart", async () => {
    const amount = "12345678901234567890";
    const own = toSale({ payer: "0xcc", job: "own" });
    const back = { ...own, kind: "refund", id: refundId("own"), job: "own" } as const;
    const lost = { ...back, id: refundId("lost"), job: "lost", payer: null }; // Of a sale that is not in the book.
    await enter(toSale({ amount }), own, toSale({ payer: "0xcc", amount }), back, lost);
    const sums = sum({ own: ["0xcc"] }).map((each) => `${each.kind} ${each.isOwn} ${each.count} ${each.amount}`);
    const theirs = ["sale true 2 12345678901234568890", "refund true 1 1000"];
    expect(sums).to.have.members([`sale false 1 ${amount}`, "refund false 1 1000", ...theirs]);
    expect(stage.books.countBuyers({ from: T, to: T + 1 }, [])).to.equal(2);
    expect(stage.books.countBuyers({ from: T, to: T + 1 }, ["0xCC", "0xdd"])).to.equal(1);
  });

  it("finds a sale by its id, transaction, request id and job, with what refers to it", async () => {
    const sale = toSale({ job: "job-9", transaction: `0x${"ab".repeat(32)}` });
    const { network, asset, amount, payer } = sale;
    const capitals = `0x${"AB".repeat(32)}`;
    const refund = { kind: "refund" as const, id: refundId("job-9"), at: T, job: "job-9", service: "roll" };
    await enter(toSale(), sale, { ...refund, network, asset, amount, payer, transaction: "0xpaidback" });
    for (const text of [sale.id, sale.transaction, capitals, sale.requestId!, "job-9", refund.id, "0xpaidback"])
      expect(
        stage.books.find(text).map(({ id }) => id),
        text,
      ).to.deep.equal([sale.id, refund.id]);
    expect(stage.books.find("' OR 1=1 --")).to.deep.equal([]);
  });

  it("gives lines page by page, both ways, and those that are asked for", async () => {
    await enter(
      ...Array.from({ length: 7 }, (_, at) => toSale({ at: T + (at >> 1), payer: at % 2 ? "0xbb" : "0xaa" })),
    );
    for (const order of ["oldest-first", "newest-first"] as const) {
      const seen: number[] = [];
      for (let after: BookLine | undefined; ; ) {
        const page = stage.books.lines({ from: T, to: T + 3 }, { limit: 2, order, after });
        seen.push(...page.map(({ seq }) => seq));
        after = page.at(-1);
        if (page.length < 2) break;
      }
      const seqs = all()
        .map(({ seq }) => seq)
        .slice(0, 6);
      expect(seen).to.deep.equal(order === "oldest-first" ? seqs : seqs.reverse());
    }
    expect(stage.books.lines({ payer: "0xBB" }, { limit: 9, order: "oldest-first" })).to.have.length(3);
    expect(stage.books.lines({ service: "other" }, { limit: 9, order: "oldest-first" })).to.have.length(0);
    expect(stage.books.since(all()[4]!.seq, 9)).to.have.length(2);
  });

  it("is exact above 2^53, for every reader", async () => {
    const amounts = ["9007199254740991", "9007199254740992", "9007199254740993", `${10n ** 27n - 1n}`];
    await enter(...amounts.map((amount) => toSale({ amount, usd: "90071992.54740993" })));
    expect(all().map(({ amount, usd }) => [amount, usd])).to.deep.equal(
      amounts.map((amount) => [amount, "90071992.54740993"]),
    );
    const total = amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);
    const nano = 4n * 90_071_992_547_409_930n;
    expect(sum()[0]).to.include({ amount: total, nanoUsd: nano });
    expect(stage.books.groups({}, { own: [], by: "all" })[0]).to.include({ amount: total, nanoUsd: nano });
    expect(stage.books.buyers(1)[0]).to.include({ nanoUsd: nano });
  });

  it("puts a sale at midnight into the day that begins, and believes a clock that goes back", async () => {
    const midnight = T + 12 * HOUR;
    await enter(
      toSale({ at: midnight }),
      toSale({ at: midnight - 1, payer: "0xbb" }),
      toSale({ at: midnight - 2 * HOUR }),
    );
    const days = stage.books.groups({}, { own: [], by: "day" }).map(({ group, count }) => [group, count]);
    expect(days).to.deep.equal([
      ["2026-05-01", 2],
      ["2026-05-02", 1],
    ]);
    const summed = stage.books.sums({ from: T, to: midnight + 1 }, { own: [], by: [], bucketMs: 24 * HOUR });
    expect(summed.map(({ at, count }) => [at, count])).to.deep.equal([
      [midnight - 24 * HOUR, 2],
      [midnight, 1],
    ]);
    expect(stage.books.countBuyers({ from: midnight - HOUR, to: midnight }, [])).to.equal(1);
    expect(stage.books.buyers(1)[0]).to.include({ firstAt: midnight - 2 * HOUR, lastAt: midnight });
    const lines = stage.books.lines({ from: midnight - HOUR, to: midnight }, { limit: 9, order: "newest-first" });
    expect(lines.map(({ payer }) => payer)).to.deep.equal(["0xbb"]);
  });

  it("takes a sale off once for its refund and once for its reversal, in whatever order they come", async () => {
    const sale = toSale({ job: "job-r" });
    const { network, asset, amount, payer } = sale;
    const paid = { network, asset, amount, payer, transaction: "0xback", service: "roll", job: "job-r" };
    const refund = { kind: "refund" as const, id: refundId("job-r"), at: T + 1, ...paid };
    const lie = { kind: "reversal" as const, id: reversalId("reversal", sale.id), at: T + 2, sale: sale.id };
    await enter(sale, refund, { ...refund, at: T + 3, transaction: "0xagain" }, lie, lie);
    expect(all().map(({ kind, of }) => [kind, of])).to.deep.equal([
      ["sale", null],
      ["refund", sale.id],
      ["reversal", sale.id],
    ]);
    expect(stage.books.buyers(1)[0]).to.include({ count: 0, nanoUsd: -1_000_000n });
  });

  it("finds the lines of one service among those of others, page by page and both ways", async () => {
    const rare = [0, 1, 30, 30, 55].map((hours) => toSale({ at: T + hours * HOUR, service: "rare", rail: "polygon" }));
    const others = Array.from({ length: 56 }, (_, hours) => toSale({ at: T + hours * HOUR }));
    await enter(...others.slice(0, 30), ...rare, ...others.slice(30));
    for (const filter of [{ service: "rare" }, { rail: "polygon", from: T }, { service: "rare", to: T + 90 * HOUR }])
      for (const order of ["oldest-first", "newest-first"] as const) {
        const seen: string[] = [];
        for (let after: BookLine | undefined; ; ) {
          const page = stage.books.lines(filter, { limit: 2, order, after });
          seen.push(...page.map(({ id }) => id));
          after = page.at(-1);
          if (page.length < 2) break;
        }
        const ids = rare.map(({ id }) => id);
        expect(seen).to.deep.equal(order === "oldest-first" ? ids : ids.toReversed());
      }
  });

  testFigures(() => stage);
}
