import { definePlugin, Problem, toValueError } from "#plugin";
import { createFourbyte, createOpenchain } from "./directories/directories.ts";
import { createLookup } from "./directories/lookup.ts";

/** Decodes the data of contract calls by public signature directories, with the calls inside (/v1/decode/calldata). */
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

      async run({ calldata_hex, contract_address }, { signal }) {
        const digits = toDigits(calldata_hex).toLowerCase();
        const function_selector = `0x${digits.slice(0, 8)}`;
        const { source, signatures, verified } = await lookUp(function_selector, signal);
        // viem is loaded with the first call, to start faster.
        const [{ interpret }, { createDecodeCalls }, { summarize }] = await Promise.all([
          import("./interpret.ts"),
          import("./calls/calls.ts"),
          import("./calls/summary.ts"),
        ]);
        const read = await interpret(Buffer.from(digits.slice(8), "hex"), signatures, { verified });
        const target = ADDRESS.test(contract_address ?? "") ? (contract_address as string).toLowerCase() : null;
        const decodeCalls = createDecodeCalls((selector) => lookUp(selector, signal));
        const { calls, omitted } = await decodeCalls(read, target);
        return {
          function_selector,
          ...read.shown,
          summary: summarize(read.shown.function_signature, read.values, { target, wei: null }),
          calls,
          calls_omitted: omitted,
          source,
        };
      },
    },
  };
});

const ADDRESS = /^0x[0-9a-f]{40}$/i;

const toDigits = (calldata: string): string => calldata.replace(/^0x/i, "");

function explain(digits: string): string | undefined {
  if (/[^0-9a-f]/i.test(digits)) return "calldata_hex must be hexadecimal, with or without 0x";
  if (digits.length < 8) return "calldata_hex must hold a selector: 4 bytes, 8 hexadecimal digits";
  return digits.length % 2 === 0 ? undefined : "calldata_hex must be whole bytes: it has an odd number of digits";
}
