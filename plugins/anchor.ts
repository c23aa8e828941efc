import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { definePlugin, Problem, toValueError } from "#plugin";

/** Writes a hash, or the hash of any JSON, to Base and Solana. */
export default definePlugin("anchor", ({ anchor }) => ({
  anchor: {
    check(input) {
      const { hash = null, data = null } = input;
      if (hash === null && data === null) throw invalid("provide either hash or data", input);
      if (hash !== null && data !== null)
        throw invalid("hash and data are mutually exclusive: provide one of them", input);
      if (!isWellFormed(data))
        throw invalid("data cannot be canonicalized by RFC 8785: Lone surrogate is not allowed", data, "data");
    },

    ready: (_input, signal) => anchor.ready(signal),

    async run({ hash = null, data, note = null }, { signal, step }) {
      const merkle_root = hash === null ? toRoot(data) : hash.toLowerCase();
      const anchored = await step("anchor", () => anchor.write(merkle_root, signal));
      return { merkle_root, ...anchored, note };
    },
  },
}));

/** SHA-256 over the RFC 8785 form of the data. */
const toRoot = (data: unknown): string =>
  createHash("sha256")
    .update(canonicalize(data) as string)
    .digest("hex");

/** Whether no text or key holds a lone surrogate ("\ud800"), which RFC 8785 refuses. Cheaper than its canonical form. */
function isWellFormed(data: unknown): boolean {
  if (typeof data === "string") return data.isWellFormed();
  if (typeof data !== "object" || data === null) return true;
  if (Array.isArray(data)) return data.every(isWellFormed);
  for (const key in data)
    if (!key.isWellFormed() || !isWellFormed((data as Readonly<Record<string, unknown>>)[key])) return false;
  return true;
}

const invalid = (error: string, input: unknown, field?: string): Problem =>
  new Problem("invalid-input", undefined, { issues: [toValueError(error, input, field)] });
