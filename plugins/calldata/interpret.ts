import { decode, type Reading } from "./decode.ts";
import { readSignature, type Signature } from "./signature.ts";
import { type JsonValue, toJson } from "./values.ts";

/** A parameter (specification 2.7, DecodedParam). */
export interface Param {
  readonly name: null;
  readonly type: string;
  readonly value: JsonValue;
}

/** What the data says (specification 2.7). */
export interface Interpretation {
  readonly function_name: string | null;
  readonly function_signature: string | null;
  readonly params: Param[];
  readonly decoded: boolean;
  readonly candidates: string[];
}

/**
 * Reads the data by the first signature that it is the exact encoding of, or else by the first one that leaves bytes at the
 * end unread: wallets and applications append marks of their own.
 * @param data what follows the selector. @param texts the selector's signatures, the most trustworthy first.
 */
export function interpret(data: Buffer, texts: readonly string[]): Interpretation {
  const fit = findFit(data, texts);
  if (!fit)
    return { function_name: null, function_signature: null, params: [], decoded: false, candidates: [...texts] };
  const { text, name, types, reading } = fit;
  return {
    function_name: name,
    function_signature: text,
    params: types.map((type, index) => ({ name: null, type: type.text, value: toJson(type, reading.values[index]!) })),
    decoded: true,
    candidates: texts.filter((other) => other !== text),
  };
}

type Fit = Signature & { readonly reading: Reading };

function findFit(data: Buffer, texts: readonly string[]): Fit | undefined {
  let loose: Fit | undefined;
  for (const text of texts) {
    const signature = readSignature(text);
    const reading = signature && decode(signature.types, data);
    if (!reading) continue;
    if (reading.isExact) return { ...signature, reading };
    loose ??= { ...signature, reading };
  }
  return loose;
}
