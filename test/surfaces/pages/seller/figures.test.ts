import { expect } from "chai";
import type { BookSum } from "../../../../runtime/core/books/books.ts";
import { toCalls, toEarned, toProblems, toShare } from "../../../../runtime/surfaces/pages/seller/figures.ts";
import { toChart } from "../../../../runtime/surfaces/pages/seller/frame.ts";
import { toTimeLine } from "../../../../runtime/surfaces/pages/seller/life.ts";
import { toFailureMeaning, toRefusalMeaning } from "../../../../runtime/surfaces/pages/seller/meanings.ts";
import { toFailed, toServiceTable } from "../../../../runtime/surfaces/pages/seller/services.ts";
import type { ShopView } from "../../../../runtime/surfaces/pages/seller/view.ts";

describe("the figures on the seller's pages", () => {
  it("count each call once, whatever came of it", () => {
    const counts = new Map([
      ["challenge", 4],
      ["attempt", 6],
      ["result", 2],
      ["refused:payment_expired", 1],
      ["failed:internal", 1],
    ]);
    for (const what of ["replay", "early", "left", "free", "gone", "cache:hit", "ms:5"]) counts.set(what, 1);
    expect(toCalls(counts)).to.equal(4 + 2 + 1 + 1 + 4);
  });

  it("call nothing a failure that is wrong with a request, as anybody can send such requests", () => {
    const counts = new Map([
      ["failed:invalid-input", 9],
      ["failed:rate-limited", 1],
      ["failed:upstream-failed", 2],
      ["result", 6],
    ]);
    expect(toProblems(counts)).to.deep.equal({ failed: 2, turnedAway: 10 });
    expect(toFailed(counts)).to.deep.equal([2, 8]);
    expect(toFailed(counts.set("job:failed", 3)), "of the jobs that were accepted").to.deep.equal([5, 8]);
    expect(toCalls(counts), "a job is a call already").to.equal(18);
  });

  it("count no payment of an own wallet that the chain does not show", () => {
    const token = { service: "roll", door: "", rail: "base", network: "eip155:8453", asset: "0x1", decimals: 6, at: 0 };
    const sums = (["sale", "reversal", "restoration"] as const).map(
      (kind, at): BookSum => ({ ...token, kind, isOwn: true, count: [5, 3, 1][at] as number, amount: 1n, nanoUsd: 1n }),
    );
    expect(toEarned(sums)).to.include({ own: 3, sales: 0, refunds: 0 });
  });

  it("have a sign where more was paid back than taken", () => {
    expect([toShare(-3, 2), toShare(-1, 99)]).to.deep.equal(["-150 %", "-1.0 %"]);
  });

  it("have a meaning also for reasons that are names of JavaScript's own", () => {
    for (const reason of ["constructor", "toString", "__proto__"]) {
      expect(toRefusalMeaning(reason)).to.match(/^A reason of the facilitator's own/);
      expect(toFailureMeaning(reason)).to.equal("");
    }
  });

  it("have a price's mark where its hour is drawn, also the newest hour's, and one mark for an hour", () => {
    const points = [0, 1, 2].map((hour) => ({ at: hour * HOUR_MS, value: 1, text: "$1" }));
    const marks = [
      { at: 1.5 * HOUR_MS, text: "$2" },
      { at: 2.2 * HOUR_MS, text: "$3" },
      { at: 2.7 * HOUR_MS, text: "$4" },
    ];
    const { markup } = toChart({ title: "Revenue", label: "US dollars", points, byDay: false, from: 0, marks });
    const [, plot = ""] = /data-plot="([^"]*)"/.exec(markup) ?? [];
    expect(JSON.parse(plot.replaceAll("&quot;", '"')).marks).to.deep.equal([
      { at: 3600, text: "$2" },
      { at: 7200, text: "$4" },
    ]);
  });

  it("have the time between two events of a sale in a unit that fits it, also after months", () => {
    const minutes = [0, 9, 599, 60 * 239, 60 * 24 * 200];
    const gaps = minutes.map((gap) => {
      const { markup } = toTimeLine([0, gap * 60_000].map((at) => ({ at, what: "" })));
      return /<small>(.*)<\/small>/.exec(markup)?.[1];
    });
    expect(gaps).to.deep.equal(["+0 ms", "+540 s", "+599 min", "+239 h", "+200 days"]);
  });

  it("say of a day that a look begins amid from which hour on it is counted", () => {
    const day = Date.UTC(2026, 9, 31);
    const points = [day, day + 24 * HOUR_MS].map((at) => ({ at, value: 1, text: "$1" }));
    const rowsFrom = (hour: number): string[] => {
      const { markup } = toChart({ title: "", label: "", points, byDay: true, from: day + hour * HOUR_MS });
      return [...markup.matchAll(/<td>(2026[^<]*)</g)].map(([, name]) => name as string);
    };
    expect(rowsFrom(23)).to.deep.equal(["2026-10-31, from 23:00", "2026-11-01"]);
    expect(rowsFrom(0), "a month").to.deep.equal(["2026-10-31", "2026-11-01"]);
  });
});

const HOUR_MS = 3_600_000;

describe("the seller's table of a thousand services", () => {
  it("stays below 100 kB, and says that it has not all of them", () => {
    const ids = Array.from({ length: 1000 }, (_, at) => `a_service_with_a_name_of_usual_length_${at}`);
    const sold = ids.map((id) => ({ id, price: "0.002" }));
    const look = { span: {}, query: "days=30" };
    const view = { books: { sums: () => [] }, own: [], look, tallies: { now: [] } };
    const of = (services: typeof sold, most?: number): string =>
      toServiceTable({ ...view, services } as unknown as ShopView, most).markup;
    const markup = of(sold);
    expect(markup.length).to.be.below(80_000);
    expect(markup).to.include(
      "<p>These are 250 of 1,000; <code>payphone sales --group service</code> lists all that sold.",
    );
    expect(of(sold.slice(0, 250)).split("<tr>")).to.have.length(252);
    expect(of(sold.slice(0, 250))).not.to.include("These are");
  });
});
