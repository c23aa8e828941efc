import { createHash, getRandomValues } from "node:crypto";
import canonicalize from "canonicalize";
import { definePlugin, Problem, toValueError, type ValidationIssue } from "#plugin";
import { drawBetween } from "./draw.ts";

/** Signed random integers. schemas/RollResponse.json says what is hashed and signed. */
export default definePlugin("roll", ({ treasury, site }) => ({
  roll: {
    check({ low, high, label }) {
      const issues: ValidationIssue[] = [];
      if (low > high) issues.push(toValueError("high must be greater than or equal to low", high, "high"));
      if (label?.isWellFormed() === false)
        issues.push(toValueError("label must be well-formed Unicode: it holds a lone surrogate", label, "label"));
      if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
    },

    async run({ low, high, count, commitment = null, label = null }) {
      const asked = { range: [low, high] as [number, number], count, commitment, label };
      const result = Array.from({ length: count }, () => drawBetween(low, high, draw64));
      const input_hash = sha256(toJcs(asked));
      const result_hash = sha256(toJcs({ input_hash, result }));
      const payload = { domain: `${site.name}/roll/v1`, ...asked, result, input_hash, result_hash };
      const [signature, signer] = await Promise.all([treasury.signMessage(toJcs(payload)), treasury.evmAddress()]);
      return { ...payload, signature, signer, scheme: "eip191" };
    },
  },
}));

const draw64 = (): bigint => getRandomValues(new BigUint64Array(1))[0] as bigint;

/** RFC 8785. `canonicalize` returns undefined only for values that are not objects. */
const toJcs = (value: object): string => canonicalize(value) as string;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
