import type { Hex } from "#plugin";
import type { FunctionSignature } from "./signature.ts";

/** How well data fits a signature, best first. */
export const FITS = ["exact", "unpadded", "trailing", "loose"] as const;

/** The arguments as viem decodes them. */
export interface DecodedArguments {
  readonly values: readonly unknown[];
  /**
   * `exact`: the data is the canonical encoding. `unpadded`: zeros are missing at its end. `trailing`: more bytes
   * follow it. `loose`: the values are at other offsets, for instance with gaps or swapped tails.
   */
  readonly fit: (typeof FITS)[number];
}

/** How many more bytes may be read. All signatures that are tried on the same data share one budget. */
export interface ReadBudget {
  left: number;
}

/** Canonical data is read once. The rest of the budget is for overlapping offsets and for further signatures. */
export const toBudget = (data: Uint8Array): ReadBudget => ({ left: 8 * data.length + 65_536 });

/**
 * Decodes arguments with viem, and compares the data with viem's encoding of them. Undefined when the data does not
 * fit. Offsets can lead to the same bytes again and again, so decoding stops when the budget is used up.
 * @param data the calldata after the selector.
 */
export async function decodeArguments(
  { parameters }: FunctionSignature,
  data: Buffer,
  budget: ReadBudget,
): Promise<DecodedArguments | undefined> {
  const { decodeAbiParameters, encodeAbiParameters } = await import("viem/utils");
  if (parameters.length === 0) return { values: [], fit: data.length === 0 ? "exact" : "trailing" };
  try {
    const values = decodeAbiParameters(parameters, withBudget(data, budget));
    return { values, fit: toFit(data, encodeAbiParameters(parameters, values)) };
  } catch {
    return undefined; // viem's error, or a used-up budget.
  }
}

/** Wraps the data so that bytes are counted when viem reads them, which it does only with `subarray`. */
function withBudget(data: Uint8Array, budget: ReadBudget): Uint8Array {
  const bytes = new Uint8Array(data);
  const subarray = (start: number, end: number): Uint8Array => {
    budget.left -= Math.max(0, end - start);
    if (budget.left < 0) throw new RangeError("more bytes are read than the data justifies");
    return Uint8Array.prototype.subarray.call(bytes, start, end);
  };
  return Object.defineProperty(bytes, "subarray", { value: subarray });
}

function toFit(data: Buffer, encoded: Hex): DecodedArguments["fit"] {
  const canonical = Buffer.from(encoded.slice(2), "hex");
  if (data.equals(canonical)) return "exact";
  if (data.subarray(0, canonical.length).equals(canonical)) return "trailing";
  const missing = canonical.length - data.length;
  const isUnpadded = missing > 0 && missing < 32 && canonical.subarray(0, data.length).equals(data);
  return isUnpadded && canonical.subarray(data.length).every((byte) => byte === 0) ? "unpadded" : "loose";
}
