import { expect } from "chai";
import fc from "fast-check";
import { toFunctionSelector } from "viem";
import { readSignature, toSelector } from "../../../plugins/calldata/abi/signature.ts";
import { toSamples, toText } from "./samples.ts";

describe("a signature", () => {
  it("has the selector that every compiler gives it", () => {
    fc.assert(
      fc.property(toSamples(0), (given) => {
        expect(toSelector(toText(given))).to.equal(toFunctionSelector(toText(given)));
      }),
    );
    expect(toSelector("transfer(address,uint256)")).to.equal("0xa9059cbb");
  });

  it("is read back as it was written", () => {
    fc.assert(
      fc.property(toSamples(0), (given) => {
        const { name, types } = readSignature(toText(given))!;
        expect(`${name}(${types.join(",")})`).to.equal(toText(given));
      }),
    );
  });

  const NESTED = `${"(".repeat(9)}bool${")".repeat(9)}`;
  it("may lie ten levels deep", () => {
    expect(readSignature(`f(${NESTED})`)).to.have.property("name", "f");
    expect(readSignature(`f(bool${"[]".repeat(9)})`)).to.have.property("name", "f");
  });

  const unreadable = [
    "",
    "f",
    "f(",
    "f)",
    "()",
    "1f()",
    "f() ",
    " f()",
    "f(uint256",
    "f(uint256))",
    "f(uint256,)",
    "f(,)",
    "f(bool bool)",
    "f(uint)",
    "f(uint7)",
    "f(uint264)",
    "f(uint08)",
    "f(int0)",
    "f(bytes0)",
    "f(bytes33)",
    "f(address20)",
    "f(bool1)",
    "f(string8)",
    "f(fixed128x18)",
    "f(tuple)",
    "f(Struct)",
    "f(mapping(address,bool))",
    "f(address payable)",
    "f(())",
    "f(()[])",
    "f((bool,()))",
    "f(bool[0])",
    "f(bool[01])",
    "f(bool[-1])",
    "f(bool[)",
    "f(bool])",
    "f([])",
    "f(bool[1000000000])",
    "f(bool)(bool)",
    "f((bool)(bool))",
    "f(bool[](bool))",
    "f(bool[]bool)",
    "f\n(bool)",
    `f((${NESTED}))`,
    `f(bool${"[]".repeat(10)})`,
    `f(${"bool,".repeat(250)}bool)`,
    `f${"(".repeat(900)}`,
    `f(${"[".repeat(900)}`,
  ];
  for (const text of unreadable)
    it(`is not believed: ${text.length > 60 ? `${text.slice(0, 57)}…` : JSON.stringify(text)}`, () => {
      expect(readSignature(text)).to.equal(undefined);
    });
});
