import { Problem, type Upstream } from "#plugin";
import { readSignature, toSelector } from "../abi/signature.ts";

/** The signatures that a directory has for a selector. */
export interface Signatures {
  /** The most trustworthy first; empty when the selector is unknown. */
  readonly signatures: readonly string[];
  /** How many of them, from the first one on, are functions of verified contracts. */
  readonly verified: number;
}

/** @throws Problem `upstream-failed`, `unavailable`. */
export type Directory = (selector: string, signal: AbortSignal) => Promise<Signatures>;

/** Limit per selector, because anybody can register signatures. */
const MOST_SIGNATURES = 32;

/**
 * Openchain's signature database, `GET /lookup`. Signatures of verified contracts come first: spam is registered but
 * hardly ever deployed. An unknown selector is `null`.
 */
export const createOpenchain =
  (openchain: Upstream): Directory =>
  async (selector, signal) => {
    const answer = await read(openchain, "/lookup", { function: selector, filter: "true" }, signal);
    const { ok, result } = answer as { ok?: unknown; result?: { function?: Readonly<Record<string, unknown>> } };
    const entries = ok === true ? result?.function?.[selector] : undefined;
    if (entries === null) return { signatures: [], verified: 0 };
    const isVerified = ({ hasVerifiedContract }: Entry): boolean => hasVerifiedContract === true;
    const texts = toTexts(openchain, entries, "name", (entry) => (isVerified(entry) ? 0 : 1));
    const verified = (entries as readonly unknown[])
      .map(Object)
      .filter(isVerified)
      .map(({ name }) => name);
    const signatures = toSignatures(selector, texts);
    return { signatures, verified: signatures.filter((text) => verified.includes(text)).length };
  };

/**
 * 4byte.directory, `GET /signatures/`. The oldest come first: a made-up signature for the selector of a known function is
 * registered later than the function.
 */
export const createFourbyte =
  (fourbyte: Upstream): Directory =>
  async (selector, signal) => {
    const query = { hex_signature: selector, ordering: "created_at" };
    const { results } = (await read(fourbyte, "/signatures/", query, signal)) as { results?: unknown };
    const texts = toTexts(fourbyte, results, "text_signature", ({ id }) => Number(id));
    return { signatures: toSignatures(selector, texts), verified: 0 };
  };

type Entry = Readonly<Record<string, unknown>>;
type Query = Readonly<Record<string, string>>;

async function read(source: Upstream, path: string, query: Query, signal: AbortSignal): Promise<object> {
  const answer = await source.get(path, { query, signal });
  if (answer.status !== 200) throw new Problem("upstream-failed", `${source.title} answered with ${answer.status}`);
  return Object(answer.json());
}

/** The texts of a directory's entries, lowest rank first. */
function toTexts({ title }: Upstream, given: unknown, key: string, rankOf: (entry: Entry) => number): string[] {
  const entries: readonly Entry[] | undefined = Array.isArray(given) ? given.map(Object) : undefined;
  const texts = entries?.toSorted((one, other) => rankOf(one) - rankOf(other)).map((entry) => entry[key]);
  if (texts?.every((text) => typeof text === "string")) return texts;
  throw new Problem("upstream-failed", `${title} gave an answer that could not be understood`);
}

/** Drops texts that do not hash to the selector. */
const toSignatures = (selector: string, texts: readonly string[]): readonly string[] =>
  texts.filter((text) => readSignature(text) && toSelector(text) === selector).slice(0, MOST_SIGNATURES);
