import { expect } from "chai";
import type { Hex } from "viem";
import { createDecodeCalls, type DecodedCall } from "../../../plugins/calldata/calls/calls.ts";
import { KNOWN_SIGNATURES } from "../../../plugins/calldata/calls/wrappers.ts";
import { interpret } from "../../../plugins/calldata/interpret.ts";
import { Problem } from "../../../runtime/api/problem.ts";

/** Decodes as the service does; directories know `ping()` alone, and fail for all else. */
export async function callsOf(data: Hex, target: string | null = null): Promise<DecodedCall[]> {
  const read = await interpret(Buffer.from(data.slice(10), "hex"), [KNOWN_SIGNATURES.get(data.slice(0, 10)) ?? ""]);
  expect(read.shown.decoded).to.equal(true);
  const decodeCalls = createDecodeCalls(async (selector) => {
    if (selector === "0x5c36b186") return { signatures: ["ping()"], verified: 0 };
    throw new Problem("upstream-failed");
  });
  return (await decodeCalls(read, target)).calls;
}
export const summariesOf = (calls: readonly DecodedCall[]): unknown[] => calls.map(({ summary }) => summary);
