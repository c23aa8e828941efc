import { Problem, toValueError } from "#plugin";
import { normalizeEnsName } from "./ens-normalize.ts";

/** The suffixes that are resolved (specification 2.8). */
export const SUPPORTED_TLDS = [".eth", ".sol"] as const;

/** A name, and who knows it; the registry is null for every other suffix. */
export interface ReadName {
  readonly registry: "ENS" | "SNS" | null;
  /** Normalized where the registry is known. */
  readonly name: string;
}

/**
 * Reads what a caller has written; white space around it means nothing.
 * @throws Problem `invalid-input` for what can be no name of the registry that its suffix asks for.
 */
export function readName(given: string): ReadName {
  const name = given.trim();
  const tld = SUPPORTED_TLDS.find((suffix) => name.toLowerCase().endsWith(suffix));
  if (!tld) return { registry: null, name };
  if (name.split(".").includes("")) throw toProblem("name must not have empty parts between its dots", given);
  return tld === ".eth" ? { registry: "ENS", name: toEnsName(name) } : { registry: "SNS", name: toSolName(name) };
}

/** ENSIP-15, without which two names that look alike would lead to different owners. */
function toEnsName(name: string): string {
  try {
    return normalizeEnsName(name);
  } catch (error) {
    throw toProblem(`name must be a valid ENS name (ENSIP-15): ${(error as Error).message}`, name);
  }
}

/** .sol names are registered in lower case alone. */
function toSolName(name: string): string {
  if (name.isWellFormed()) return name.toLowerCase();
  throw toProblem("name must be well-formed Unicode: it holds a lone surrogate", name);
}

const toProblem = (error: string, given: string): Problem =>
  new Problem("invalid-input", undefined, { issues: [toValueError(error, given, "name")] });
