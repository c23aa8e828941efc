import { expect } from "chai";
import { findForeignFaults } from "../../runtime/drivers/foreign-schema.ts";

describe("somebody else's schema", () => {
  it("is compiled once, however many inputs are held against it", () => {
    let reads = 0;
    const document = {
      type: "object",
      required: ["low"],
      get $defs() {
        reads += 1;
        return {};
      },
    };
    const missing = (): number => findForeignFaults(document, {}, "body").length;
    expect([missing(), reads > 0]).to.deep.equal([1, true]);
    const before = reads;
    expect([missing(), reads]).to.deep.equal([1, before]);
  });
});
