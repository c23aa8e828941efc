import { expect } from "chai";
import fc from "fast-check";
import { readAmounts, toAmount, toDecimals } from "../../../../runtime/surfaces/pages/report/amounts.ts";

const show = (text: string): string => {
  const [amount] = readAmounts(text) ?? [];
  return amount ? toAmount(amount, toDecimals(amount)).markup : "no amount";
};

/** What is read, without markup. */
const toText = (markup: string): string => markup.replaceAll(/<[^>]+>/g, "").replaceAll("&lt;", "<");

describe("an amount in a report", () => {
  for (const [exact, shown] of [
    ["0", "0"],
    ["36", "36"],
    ["1234567", "1,234,567"],
    ["0.5", "0.5"],
    ["12.3456", "12.35"],
    ["999.995", "1,000.00"],
    ["1234567.891 USDC", "1,234,567.89 USDC"],
    ["0.001", "0.001"],
    ["0.0012345", "0.00123"],
    ["0.0000005", "0.000001"],
    ["0.000000000000000001 ETH", "<0.000001 ETH"],
    ["1.999999999", "2.00"],
  ] as const)
    it(`is ${shown} for ${exact}`, () => {
      expect(toText(show(exact))).to.equal(shown);
    });

  it("shows the exact value on hover where it was rounded, and only there", () => {
    expect(show("1234.567891 USDC")).to.equal(
      '<data value="1234.567891" title="1234.567891 USDC">1,234.57 USDC</data>',
    );
    expect(show("0.25 USDC")).to.equal("0.25 USDC");
    expect(show("1234.50")).to.equal("1,234.5");
  });

  it("is read alone or in a list, and never from a text that says more", () => {
    expect(readAmounts("500.25 USDC, 0.1 ETH")).to.have.length(2);
    for (const text of ["", "about 5", "5 USDC!", "1e5", "-1", "1,000", "2026-11-22", "5 %", "0x5", ".5"])
      expect(readAmounts(text), text).to.equal(undefined);
  });

  it("is at most half a unit of its last digit away from the exact value, and never nothing for something", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 18 });
    fc.assert(
      fc.property(digits, digits, (left, right) => {
        const [whole, fraction] = [String(BigInt(left)), right];
        const amount = { whole, fraction, symbol: undefined };
        const decimals = toDecimals(amount);
        const shown = toText(toAmount(amount, decimals).markup);
        const scale = (text: string): bigint => {
          const [front = "", back = ""] = text.replaceAll(",", "").split(".");
          return BigInt(front + back.padEnd(18, "0"));
        };
        const exact = scale(`${whole}.${fraction}`);
        const off = shown.startsWith("<") ? 0n : scale(shown) - exact;
        expect(Number(2n * (off < 0n ? -off : off)), shown).to.be.at.most(Number(10n ** BigInt(18 - decimals)));
        expect(/[1-9]/.test(shown), shown).to.equal(exact > 0n);
      }),
    );
  });
});
