import { Problem, toValueError } from "#plugin";
import { readAddress } from "../address.ts";
import { normalizeEnsName } from "./ens/normalize.ts";

/** The suffixes that are resolved. */
export const SUPPORTED_TLDS = [".eth", ".sol"] as const;

/** The subject of a request. */
export type NameQuestion = NamedQuestion | AddressQuestion;

/** A name and its registry; null for any other suffix. */
export interface NamedQuestion {
  readonly kind: "name";
  readonly registry: "ENS" | "SNS" | null;
  /** Normalized when the registry is known. */
  readonly name: string;
}

/** An address whose name is wanted. */
export interface AddressQuestion {
  readonly kind: "address";
  readonly registry: "ENS" | "SNS";
  /** In canonical spelling. */
  readonly address: string;
}

/**
 * Reads a name or an address as sent by a caller, ignoring surrounding white space and one trailing dot.
 * @throws Problem `invalid-input` for a name that its registry cannot have, and for a name without a suffix.
 */
export function readName(given: string): NameQuestion {
  const name = given.trim().replace(QUOTED, "$1$2").replace(/\.$/, "");
  const { chain, key } = readAddress(name);
  if (chain !== "unknown") return { kind: "address", registry: chain === "ethereum" ? "ENS" : "SNS", address: key };
  // ENSIP-15 reads letters of full width, too.
  const plain = name.normalize("NFKC").toLowerCase();
  const tld = SUPPORTED_TLDS.find((suffix) => plain.endsWith(suffix));
  if (!tld && !name.includes(".")) throw toProblem(toAdvice(name), given);
  if (name.split(".").includes("")) throw toProblem("name must not have empty parts between its dots", given);
  if (!tld && (NOT_IN_NAMES.test(name) || INVISIBLE.test(name)))
    throw toProblem(`name must be a name alone, ${ENDS}`, given);
  if (!tld) return { kind: "name", registry: null, name };
  return tld === ".eth"
    ? { kind: "name", registry: "ENS", name: toEnsName(name) }
    : { kind: "name", registry: "SNS", name: toSolName(name) };
}

const ENDS = `and end with ${SUPPORTED_TLDS.join(" or ")}`;
const QUOTED = /^"([^"]*)"$|^'([^']*)'$/;
const NOT_IN_NAMES = /[\s/:?#@"'<>()[\]{},;\\\p{Pi}\p{Pf}]|^[\d.]+$/u;
/** White space and invisible characters; the joiner (U+200D) is a part of emoji. */
const INVISIBLE = /(?!\u200d)[\p{C}\p{Z}]/u;

function toAdvice(name: string): string {
  if (/^0x[0-9a-f]*$/i.test(name))
    return `name must end with ${SUPPORTED_TLDS.join(" or ")}; an address has 40 hex digits`;
  const advice = /^[a-z0-9-]+$/i.test(name) ? `, such as ${name}${SUPPORTED_TLDS.join(` or ${name}`)}` : "";
  return `name must end with ${SUPPORTED_TLDS.join(" or ")}${advice}`;
}

/** Normalizes by ENSIP-15, so names that look alike are the same name. */
function toEnsName(name: string): string {
  try {
    return normalizeEnsName(name);
  } catch (error) {
    throw toProblem(`name must be a valid ENS name (ENSIP-15): ${(error as Error).message}`, name);
  }
}

/** Whether a .sol name of a registry is one that a caller can ask for: not one that looks like another by what is not seen. */
export const isSolName = (name: string): boolean =>
  name.isWellFormed() && !INVISIBLE.test(name) && name === name.toLowerCase();

/** .sol names are registered in lower case only. */
function toSolName(name: string): string {
  if (!name.isWellFormed()) throw toProblem("name must be well-formed Unicode: it holds a lone surrogate", name);
  if (INVISIBLE.test(name)) throw toProblem("name must not hold white space or invisible characters", name);
  if (!name.toLowerCase().endsWith(".sol")) throw toProblem("name must end with .sol in plain letters", name);
  return name.toLowerCase();
}

const toProblem = (error: string, given: string): Problem =>
  new Problem("invalid-input", undefined, { issues: [toValueError(error, given, "name")] });
