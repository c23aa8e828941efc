import { expect } from "chai";
import { withSingleTypes } from "../../../runtime/surfaces/schema/any-of.ts";

describe("a schema whose types are a list", () => {
  it("has one branch for each type, which keeps the bounds, and null has none", () => {
    const sides = { type: ["integer", "null"], minimum: 2, default: 6, description: "The sides." };
    const unit = { type: ["string", "null"], enum: ["m", "ft", null] };
    expect(withSingleTypes({ type: "object", properties: { sides, unit } })).to.deep.equal({
      type: "object",
      properties: {
        sides: { default: 6, description: "The sides.", anyOf: [{ type: "integer", minimum: 2 }, { type: "null" }] },
        unit: { anyOf: [{ type: "string", enum: ["m", "ft"] }, { type: "null" }] },
      },
    });
  });
});
