import { definePlugin, Problem, toValueError } from "#plugin";
import { createFourbyte, createOpenchain } from "./directories.ts";
import { interpret } from "./interpret.ts";
import { createLookup } from "./lookup.ts";

/** What a call of an EVM contract says, decoded by public signature directories (specification 2.7 and 4.2). */
export default definePlugin("calldata", ({ cache, upstream }) => {
  const openchain = createOpenchain(upstream("openchain"));
  const fourbyte = createFourbyte(upstream("fourbyte"));
  const lookUp = createLookup(cache, { openchain, fourbyte });
  return {
    decode: {
      check({ chain, calldata_hex }) {
        if (chain === "solana")
          throw new Problem("unparseable-input", "Only calldata of EVM chains can be decoded: chain must be ethereum");
        const fault = explain(toDigits(calldata_hex));
        if (fault === undefined) return;
        const issues = [toValueError(fault, undefined, "calldata_hex")]; // Too long to be sent back.
        throw new Problem("invalid-input", undefined, { issues });
      },

      async run({ calldata_hex }, { signal }) {
        const digits = toDigits(calldata_hex).toLowerCase();
        const function_selector = `0x${digits.slice(0, 8)}`;
        const { source, signatures } = await lookUp(function_selector, signal);
        return { function_selector, ...interpret(Buffer.from(digits.slice(8), "hex"), signatures), source };
      },
    },
  };
});

const toDigits = (calldata: string): string => (calldata.startsWith("0x") ? calldata.slice(2) : calldata);

function explain(digits: string): string | undefined {
  if (/[^0-9a-f]/i.test(digits)) return "calldata_hex must be hexadecimal, with or without 0x";
  if (digits.length < 8) return "calldata_hex must hold a selector: 4 bytes, 8 hexadecimal digits";
  return digits.length % 2 === 0 ? undefined : "calldata_hex must be whole bytes: it has an odd number of digits";
}
