import { expect } from "chai";
import fc from "fast-check";
import { Problem } from "../../../runtime/api/problem.ts";
import { jsonShapeOf, parseJson } from "../../../runtime/server/request/json.ts";
import { findJsonFault } from "../../../runtime/server/request/json-fault.ts";

const broken = (text: string): boolean => {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
};

describe("the first fault of a broken JSON text", () => {
  it("is where the text cannot be continued to JSON any more: what stands before it could have been", () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("", "}", "]", ",", '"', ":", "1", "x", "\\", "\n"), fc.nat(2))
      .map(([text, at, piece, cut]) => text.slice(0, at % text.length) + piece + text.slice((at % text.length) + cut))
      .filter(broken);
    fc.assert(
      fc.property(mutated, (text) => {
        const { position, error } = findJsonFault(text);
        expect(error).to.match(/^(Expecting|Extra|Unterminated|Invalid)/);
        const saved = text.slice(0, position);
        const end = broken(saved) ? findJsonFault(saved) : undefined;
        if (!end) expect(error).to.equal("Extra data");
        else if (!end.error.startsWith("Unterminated")) expect(end.position).to.equal(position);
      }),
      { numRuns: 2000 },
    );
  });

  it("is found in a megabyte of anything without deep recursion or long waiting", () => {
    for (const text of [
      "[".repeat(1_000_000),
      `"${"a".repeat(1_000_000)}`,
      `"${"\\n".repeat(500_000)}`,
      `${"1".repeat(1_000_000)}x`,
      " ".repeat(1_000_000),
      `[${"1,".repeat(500_000)}`,
    ])
      expect(findJsonFault(text).position).to.be.within(0, 1_000_001);
  });

  it("is reported for exactly what JSON.parse refuses", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json({ depthSize: 4 }), fc.string({ maxLength: 8 })), (text) => {
        const bytes = Buffer.from(text);
        const parse = (): unknown => parseJson(bytes, 64, jsonShapeOf(bytes, 64));
        if (broken(text)) expect(parse).to.throw(Problem).with.property("code", "invalid-input");
        else expect(parse()).to.deep.equal(JSON.parse(text));
      }),
    );
  });
});
