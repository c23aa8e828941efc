import { Problem, type Upstream } from "#plugin";
import { readSignature, toSelector } from "../abi/signature.ts";

/**
 * The signatures that a directory has for a selector, most trustworthy first. @throws Problem `upstream-failed`,
 * `unavailable`.
 */
export type Directory = (selector: string, signal: AbortSignal) => Promise<readonly string[]>;

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
    if (entries === null) return [];
    const rankOf = ({ hasVerifiedContract }: Entry): number => (hasVerifiedContract === true ? 0 : 1);
    return toSignatures(selector, toTexts(openchain, entries, "name", rankOf));
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
    return toSignatures(
      selector,
      toTexts(fourbyte, results, "text_signature", ({ id }) => Number(id)),
    );
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
