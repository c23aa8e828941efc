import { toSelector } from "../../../plugins/calldata/abi/signature.ts";
import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

/** The signatures in a directory, oldest first. */
export interface DirectoryOptions extends Omit<WorldSourceOptions, "answer"> {
  readonly signatures: readonly string[];
  /** The signatures of verified contracts. */
  readonly verified?: readonly string[];
}

/** Sourcify's signature database (Openchain) over HTTP. */
export function openOpenchain({ signatures, verified = [], ...rest }: DirectoryOptions): Promise<WorldSource> {
  return openWorldSource({
    ...rest,
    answer({ name, query }) {
      const selector = query.get("function");
      if (name !== "/lookup" || selector === null) return undefined;
      const found = signatures.filter((text) => toSelector(text) === selector);
      const entries = found.map((text) => ({
        name: text,
        filtered: false,
        hasVerifiedContract: verified.includes(text),
      }));
      return { ok: true, result: { event: {}, function: { [selector]: entries.length > 0 ? entries : null } } };
    },
  });
}

/** 4byte.directory over HTTP. */
export function openFourbyte({ signatures, ...rest }: DirectoryOptions): Promise<WorldSource> {
  return openWorldSource({
    ...rest,
    answer({ name, query }) {
      const selector = query.get("hex_signature");
      if (name !== "/signatures/" || selector === null) return undefined;
      const results = signatures
        .map((text_signature, id) => ({ id, text_signature, hex_signature: toSelector(text_signature) }))
        .filter(({ hex_signature }) => hex_signature === selector);
      return { count: results.length, next: null, previous: null, results };
    },
  });
}
