import { base58 } from "@scure/base";
import fc from "fast-check";
import { toBase58 } from "../../../runtime/core/x402/base58.ts";

describe("base58", () => {
  it("is what @scure/base writes, whatever the bytes", () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    const padded = fc
      .tuple(fc.nat(5), bytes)
      .map(([zeros, rest]) => new Uint8Array([...new Uint8Array(zeros), ...rest]));
    fc.assert(fc.property(padded, (given) => toBase58(given) === base58.encode(given)));
  });
});
