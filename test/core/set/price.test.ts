import { expect } from "chai";
import fc from "fast-check";
import type { RailManifest } from "../../../runtime/core/set/manifest.ts";
import { amountOn, isPrice, toAtomic, toDecimal } from "../../../runtime/core/set/price.ts";

const decimals = fc.integer({ min: 0, max: 18 });
const rail = (currency: "usd" | "jpy", railDecimals: number): RailManifest =>
  ({ currency, decimals: railDecimals }) as RailManifest;
const TIERS = { "0.001": "0.1", "0.005": "1", "0.01": "2", "0.05": "10", "1.77": "350", "5.00": "1000" };

describe("price arithmetic", () => {
  it("takes an amount to decimal text and back without loss", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 17n }), decimals, (atomic, places) => {
        expect(toAtomic(toDecimal(atomic, places), places)).to.equal(atomic);
      }),
    );
  });

  it("keeps the order of prices", () => {
    const price = fc.tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 999_999 }));
    const text = ([whole, fraction]: [number, number]): string => `${whole}.${String(fraction).padStart(6, "0")}`;
    fc.assert(
      fc.property(price, price, (a, b) => {
        const [left, right] = [toAtomic(text(a), 6), toAtomic(text(b), 6)];
        expect(left < right).to.equal(a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]));
      }),
    );
  });

  it("never rounds: digits that the asset cannot hold are refused", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 17 }), (places) => {
        expect(() => toAtomic(`0.${"0".repeat(places)}1`, places)).to.throw(RangeError, "decimals");
      }),
    );
  });

  it("ignores trailing zeros", () => {
    expect(toAtomic("5.00", 0)).to.equal(5n);
    expect(toAtomic("0.0200000000", 6)).to.equal(20_000n);
  });

  it("refuses everything but plain decimals", () => {
    for (const text of ["", ".", "1.", ".5", "-1", "+1", "1e3", "01", "1,5", " 1", "1 ", "0x1", "NaN", "1.2.3", "١"]) {
      expect(() => toAtomic(text, 6), text).to.throw(RangeError);
      expect(isPrice(text), text).to.equal(false);
    }
    expect(isPrice("0")).to.equal(false);
    expect(isPrice("0.000")).to.equal(false);
    expect(isPrice("0.001")).to.equal(true);
  });

  it("turns dollars into atomic units on the dollar rails", () => {
    const expected = {
      "0.001": 1000n,
      "0.005": 5000n,
      "0.01": 10_000n,
      "0.02": 20_000n,
      "0.05": 50_000n,
      "0.35": 350_000n,
      "1.77": 1_770_000n,
    };
    for (const [price, amount] of Object.entries(expected))
      expect(amountOn(rail("usd", 6), price, { yen_tiers: TIERS })).to.equal(amount);
  });

  it("takes yen from the fixed tiers, and has none for 0.02 and 0.35", () => {
    const yen = 10n ** 18n;
    expect(amountOn(rail("jpy", 18), "0.001", { yen_tiers: TIERS })).to.equal(yen / 10n);
    expect(amountOn(rail("jpy", 18), "0.005", { yen_tiers: TIERS })).to.equal(yen);
    expect(amountOn(rail("jpy", 18), "0.050", { yen_tiers: TIERS })).to.equal(10n * yen);
    expect(amountOn(rail("jpy", 18), "1.77", { yen_tiers: TIERS })).to.equal(350n * yen);
    expect(amountOn(rail("jpy", 18), "5", { yen_tiers: TIERS })).to.equal(1000n * yen);
    expect(amountOn(rail("jpy", 18), "0.02", { yen_tiers: TIERS })).to.equal(undefined);
    expect(amountOn(rail("jpy", 18), "0.35", { yen_tiers: TIERS })).to.equal(undefined);
  });

  it("takes any other currency from its own tiers, and none from another's", () => {
    const tariff = { currencies: { eur: { tiers: { "0.01": "0.009" } }, jpy: { tiers: TIERS } } };
    const inEuros = { currency: "eur", decimals: 6 };
    expect(amountOn(inEuros, "0.010", tariff)).to.equal(9000n);
    expect(amountOn(inEuros, "0.05", tariff)).to.equal(undefined);
    expect(amountOn({ ...inEuros, currency: "gbp" }, "0.01", tariff)).to.equal(undefined);
    expect(amountOn({ ...inEuros, currency: "constructor" }, "0.01", tariff)).to.equal(undefined);
    const yen = { currency: "jpy", decimals: 18 };
    expect(amountOn(yen, "0.05", tariff)).to.equal(amountOn(yen, "0.05", { yen_tiers: TIERS }));
  });
});
