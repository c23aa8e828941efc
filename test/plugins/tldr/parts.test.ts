import { expect } from "chai";
import fc from "fast-check";
import { splitText } from "../../../plugins/tldr/parts.ts";
import { CODE_POINTS } from "../../support/code-points.ts";

const WORDS = [
  "tide",
  "Mond",
  "潮",
  "。",
  ". ",
  "! ",
  " ",
  "\n",
  "\n\n",
  "\t",
  "🌊",
  "e\u0301",
  "x".repeat(30),
  "\ud800",
];

describe("a long text, cut into parts", () => {
  const texts = fc.oneof(
    fc.array(fc.constantFrom(...WORDS), { maxLength: 300 }).map((words) => words.join("")),
    fc.string({ unit: CODE_POINTS, maxLength: 300 }),
  );

  it("has every character in exactly one part", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 2, max: 120 }), (text, maxLength) => {
        const parts = splitText(text, maxLength);
        expect(parts.join("")).to.equal(text);
        expect(parts.every((part) => part.length > 0 && part.length <= maxLength)).to.equal(true);
      }),
      { numRuns: 5000 },
    );
  });

  it("is never cut through a character", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 300 }),
        fc.integer({ min: 2, max: 50 }),
        (text, maxLength) => {
          for (const part of splitText(text, maxLength)) expect(part.isWellFormed()).to.equal(true);
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("comes in at most twice as many parts as it needs, and none of them is a crumb", () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 8, max: 120 }), (text, maxLength) => {
        const parts = splitText(text, maxLength);
        expect(parts.length).to.be.at.most(2 * Math.ceil(text.length / maxLength));
        if (text.length > maxLength) for (const part of parts) expect(part.length).to.be.above(maxLength / 8);
      }),
      { numRuns: 5000 },
    );
  });

  const cuts: readonly [where: string, text: string, parts: readonly string[]][] = [
    ["between paragraphs", "aaaa bbbb.\n\nccc. ddd\neee", ["aaaa bbbb.\n\n", "ccc. ddd\neee"]],
    ["between lines", "aaaa bbbb\nccc. ddd", ["aaaa bbbb\n", "ccc. ddd"]],
    ["between sentences", "aaaa bbbb. ccc ddd", ["aaaa bbbb. ", "ccc ddd"]],
    ["between sentences of Chinese", "潮汐每天涨落两次。月亮是原因。", ["潮汐每天涨落两次。", "月亮是原因。"]],
    ["between words", "aaaa bbbb ccc ddd", ["aaaa bbbb ", "ccc ddd"]],
    ["anywhere, where there is no border", "aaaabbbbccccdddd", ["aaaabbbbcc", "ccdddd"]],
    ["nowhere, when it is short", "aaaa bbbb.\n\n", ["aaaa bbbb.\n\n"]],
  ];
  for (const [where, text, parts] of cuts)
    it(`is cut ${where}`, () => {
      expect(splitText(text, 12)).to.deep.equal(parts);
    });

  it("has no parts when there is nothing", () => {
    expect(splitText("", 12)).to.deep.equal([]);
  });
});
