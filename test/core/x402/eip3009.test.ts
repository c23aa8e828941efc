import { expect } from "chai";
import { readEip3009 } from "../../../runtime/core/x402/eip3009.ts";

const AUTHORIZATION = {
  from: `0x${"11".repeat(20)}`,
  to: `0x${"22".repeat(20)}`,
  value: "1000",
  validAfter: "0",
  validBefore: "1800000000",
  nonce: `0x${"0c".repeat(32)}`,
};
const SIGNATURE = `0x${"ab".repeat(65)}`;
const read = (changes: Readonly<Record<string, unknown>>) =>
  readEip3009({ signature: SIGNATURE, authorization: { ...AUTHORIZATION, ...changes } });

describe("an EIP-3009 authorization", () => {
  it("is read as it is written", () => {
    expect(read({})).to.deep.equal({ signature: SIGNATURE, authorization: AUTHORIZATION });
  });

  it("has its numbers in decimal text, also where a client has sent safe integers or leading zeros", () => {
    for (const name of ["value", "validAfter", "validBefore"]) {
      const text = String(2n ** 256n - 1n);
      for (const [given, wanted] of [
        [7, "7"],
        ["007", "7"],
        [0, "0"],
        [text, text],
      ] as const)
        expect(read({ [name]: given })).to.have.nested.property(`authorization.${name}`, wanted);
    }
  });

  it("has no numbers that a token could not take", () => {
    const others = [-1, 1.5, 2 ** 53, "", " 1", "1e3", "0x1", String(2n ** 256n), "1".repeat(79), null, undefined, 7n];
    for (const name of ["value", "validAfter", "validBefore"])
      for (const other of others) expect(read({ [name]: other }), `${name}: ${other}`).to.equal(undefined);
  });

  it("has addresses of 20 bytes, and a nonce of 32", () => {
    const others = [
      "0x",
      `0x${"1".repeat(39)}`,
      `0x${"11".repeat(21)}`,
      `0x${"11".repeat(31)}`,
      "11".repeat(20),
      1,
      null,
    ];
    for (const name of ["from", "to", "nonce"])
      for (const other of others) expect(read({ [name]: other }), `${name}: ${other}`).to.equal(undefined);
    expect(read({ nonce: AUTHORIZATION.to })).to.equal(undefined);
    expect(read({ to: AUTHORIZATION.nonce })).to.equal(undefined);
  });

  it("is signed: with whole bytes of hex, as many as a contract may want", () => {
    for (const signature of [undefined, null, "", "0x", "0xabc", "0xzz", 1])
      expect(readEip3009({ signature, authorization: AUTHORIZATION }), String(signature)).to.equal(undefined);
    expect(readEip3009({ signature: `0x${"ab".repeat(500)}`, authorization: AUTHORIZATION })).to.be.an("object");
    for (const authorization of [undefined, null, [], "text"])
      expect(readEip3009({ signature: SIGNATURE, authorization })).to.equal(undefined);
  });
});
