import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { definePlugin, Problem, toValueError } from "#plugin";

/** Writes a hash, or the hash of any JSON, to Base and Solana. */
export default definePlugin("anchor", ({ anchor }) => ({
  anchor: {
    check(input) {
      toRoot(input);
    },

    ready: (_input, signal) => anchor.ready(signal),

    async run({ hash, data, note = null }, { signal, step }) {
      const merkle_root = toRoot({ hash, data });
      const anchored = await step("anchor", () => anchor.write(merkle_root, signal));
      return { merkle_root, ...anchored, note };
    },
  },
}));

/** The hash to anchor: `hash` as sent, or SHA-256 over `data` in RFC 8785 form. @throws Problem `invalid-input`. */
function toRoot(input: { readonly hash?: string | null | undefined; readonly data?: unknown }): string {
  const { hash, data } = input;
  if ((hash ?? null) === null) {
    if ((data ?? null) === null) throw invalid("provide either hash or data", input);
    return createHash("sha256").update(toJcs(data)).digest("hex");
  }
  if ((data ?? null) !== null) throw invalid("hash and data are mutually exclusive: provide one of them", input);
  return (hash as string).toLowerCase();
}

/** RFC 8785 refuses some valid JSON: "\ud800" is a lone surrogate, and JSON.parse reads 1e400 as Infinity. */
function toJcs(data: unknown): string {
  try {
    return canonicalize(data) as string;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(`data cannot be canonicalized by RFC 8785: ${reason}`, data, "data");
  }
}

const invalid = (error: string, input: unknown, field?: string): Problem =>
  new Problem("invalid-input", undefined, { issues: [toValueError(error, input, field)] });
