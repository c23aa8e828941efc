import { expect } from "chai";
import { toFirstSentence } from "../../../runtime/surfaces/pages/docs/index-page.ts";

const LONG = "the official reference rates of the last working day, and of each one before it since 1999, everywhere";

describe("the line about a service", () => {
  for (const [title, description, line] of [
    ["is its first sentence", "One roll. Signed.", "One roll."],
    ["ends at the colon of a long sentence", `Rates between two currencies: ${LONG}.`, "Rates between two currencies."],
    [
      "is never a label alone, and ends after a word",
      `Beta: ${LONG}.`,
      "Beta: the official reference rates of the last working day, and of each one before it since 1999 …",
    ],
  ] as const)
    it(title, () => expect(toFirstSentence(description)).to.equal(line));
});
