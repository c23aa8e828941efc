import { setImmediate } from "node:timers/promises";
import type { Plugins } from "#plugin";
import { type DecodedArguments, decodeArguments, FITS, type ReadBudget, toBudget } from "./abi/decode.ts";
import { type FunctionSignature, readSignature } from "./abi/signature.ts";
import { toJson } from "./abi/values.ts";

/** The answer's fields about one call. */
type Interpretation = Omit<
  Required<Plugins["calldata"]["decode"]["output"]>,
  "function_selector" | "summary" | "calls" | "calls_omitted" | "source"
>;

/** An interpretation with the values as viem decodes them, and what they were decoded from. */
export interface Interpreted {
  readonly shown: Interpretation;
  readonly values: readonly unknown[];
  readonly data: Buffer;
  /** Whether nothing was decoded because the budget was used up. */
  readonly isCut: boolean;
}

/** With more data, other calls get a turn between two signatures. */
const LARGE_BYTES = 8192;

/**
 * Decodes the data with the signature that it fits best; among equal fits, with the first one. A signature that anybody
 * can register does not compete with those of verified contracts, however well data was made to fit it.
 * @param data the calldata after the selector. @param texts the selector's signatures, most trustworthy first.
 * @param verified how many of the first ones are of verified contracts.
 */
export async function interpret(
  data: Buffer,
  texts: readonly string[],
  { verified = 0, budget = toBudget(data) }: { readonly verified?: number; readonly budget?: ReadBudget } = {},
): Promise<Interpreted> {
  const trusted = await findFit(data, texts.slice(0, verified), budget);
  const found = trusted ?? (budget.left < 0 ? undefined : await findFit(data, texts.slice(verified), budget));
  if (!found) {
    const shown = { function_name: null, function_signature: null, params: [], decoded: false, canonical: null };
    const isCut = texts.length > 0 && budget.left < 0;
    return { shown: { ...shown, candidates: [...texts] }, values: [], data, isCut };
  }
  const { signature, decoded } = found;
  const { text, name, types } = signature;
  return {
    shown: {
      function_name: name,
      function_signature: text,
      params: types.map((type, index) => ({ name: null, type, value: toJson(type, decoded.values[index]) })),
      decoded: true,
      canonical: decoded.fit === "exact",
      candidates: texts.filter((other) => other !== text),
    },
    values: decoded.values,
    data,
    isCut: false,
  };
}

interface Fitting {
  readonly signature: FunctionSignature;
  readonly decoded: DecodedArguments;
}

async function findFit(data: Buffer, texts: readonly string[], budget: ReadBudget): Promise<Fitting | undefined> {
  let best: Fitting | undefined;
  for (const text of texts) {
    const signature = readSignature(text);
    const decoded = signature && (await decodeArguments(signature, data, budget));
    if (data.length > LARGE_BYTES) await setImmediate();
    if (!decoded) continue;
    if (decoded.fit === "exact") return { signature, decoded };
    if (!best || FITS.indexOf(decoded.fit) < FITS.indexOf(best.decoded.fit)) best = { signature, decoded };
  }
  return best;
}
