import { Problem, toValueError } from "#plugin";
import { normalizeEnsName } from "./ens-normalize.ts";

/** The suffixes that are resolved. */
export const SUPPORTED_TLDS = [".eth", ".sol"] as const;

/** A name and its registry; null for any other suffix. */
export interface ReadName {
  readonly registry: "ENS" | "SNS" | null;
  /** Normalized when the registry is known. */
  readonly name: string;
}

/**
 * Reads a name as sent by a caller, ignoring surrounding white space.
 * @throws Problem `invalid-input` for a name that its registry cannot have.
 */
export function readName(given: string): ReadName {
  const name = given.trim();
  const tld = SUPPORTED_TLDS.find((suffix) => name.toLowerCase().endsWith(suffix));
  if (!tld) return { registry: null, name };
  if (name.split(".").includes("")) throw toProblem("name must not have empty parts between its dots", given);
  return tld === ".eth" ? { registry: "ENS", name: toEnsName(name) } : { registry: "SNS", name: toSolName(name) };
}

/** Normalizes by ENSIP-15, so names that look alike are the same name. */
function toEnsName(name: string): string {
  try {
    return normalizeEnsName(name);
  } catch (error) {
    throw toProblem(`name must be a valid ENS name (ENSIP-15): ${(error as Error).message}`, name);
  }
}

/** .sol names are registered in lower case only. */
function toSolName(name: string): string {
  if (name.isWellFormed()) return name.toLowerCase();
  throw toProblem("name must be well-formed Unicode: it holds a lone surrogate", name);
}

const toProblem = (error: string, given: string): Problem =>
  new Problem("invalid-input", undefined, { issues: [toValueError(error, given, "name")] });
