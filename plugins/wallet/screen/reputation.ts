import { type Host, Problem, type Upstream, type UpstreamAnswer, type UpstreamRequest } from "#plugin";
import { type JsonFields, toJsonFields } from "../fields.ts";
import { FLAGS, type Flag } from "./flags.ts";
import type { ScreenTerms } from "./terms.ts";

/** GoPlus' data about an EVM address. */
export interface Reputation {
  /** On the requested chain. */
  readonly addressType: "eoa" | "contract" | "unknown";
  readonly flags: readonly Flag[];
  /** False when GoPlus has not answered some of the flags (yet). */
  readonly isComplete: boolean;
}

/** @returns undefined when GoPlus failed or did not answer in time. @throws the signal's reason. */
export type FindReputation = (key: string, terms: ReputationTerms) => Promise<Reputation | undefined>;

interface ReputationTerms extends ScreenTerms {
  readonly chainId: string;
}

const PREFIX = "screen:goplus-2:";
const KEPT_MS = 600_000;
/** How long to wait for GoPlus; longer than one attempt's timeout, so that the upstream counts the failure. */
const PATIENCE_MS = 5_000;
/** The answer's `code`: complete, or partial (the rest follows in about 15 seconds). */
const COMPLETE = 1;
const PARTIAL = 2;
/** The code for more than 30 requests a minute, which comes with status 200. */
const TOO_MANY = 4029;
const UNSUPPORTED_CHAIN = 2022;
const ETHEREUM = "1";
const COUNT = /^(?:0|[1-9]\d*)$/;
const ADDRESS_TYPES: ReadonlyMap<string, Reputation["addressType"]> = new Map([
  ["0", "eoa"],
  ["1", "contract"],
]);

/** Reads GoPlus' address security API. Complete answers are cached for ten minutes. @see https://docs.gopluslabs.io */
export function createReputation({ cache, log, upstream }: Pick<Host, "cache" | "log" | "upstream">): FindReputation {
  const source = upstream("goplus");
  return async (key, terms) => {
    const place = `${PREFIX}${terms.chainId}:${key}`;
    try {
      const kept = await cache.get<Reputation>(place);
      if (kept) return kept.value;
      const found = await askPatiently(source, key, terms);
      if (found.isComplete) await cache.set(place, found, KEPT_MS);
      return found;
    } catch (error) {
      terms.signal.throwIfAborted();
      log.warn("screen.no-reputation", { error });
      return undefined;
    }
  };
}

/** Waits for complete data until `patientUntil`, and then takes partial data. */
async function askPatiently(source: Upstream, key: string, terms: ReputationTerms): Promise<Reputation> {
  const { signal, chainId } = terms;
  const askNow = (): Promise<Reputation> => {
    const hasty = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
    return ask(source, key, { signal: hasty, chainId, isPassing: isTooMany });
  };
  if (terms.patientUntil === undefined) return askNow();
  return ask(source, key, { ...terms, isPassing: isTooManyOrPartial }).catch((error: unknown) => {
    signal.throwIfAborted();
    return askNow().catch(() => Promise.reject(error));
  });
}

const codeOf = (answer: UpstreamAnswer): unknown =>
  answer.status === 200 ? toJsonFields(answer.json()).code : undefined;
const isTooMany = (answer: UpstreamAnswer): boolean => codeOf(answer) === TOO_MANY;
const isTooManyOrPartial = (answer: UpstreamAnswer): boolean => isTooMany(answer) || codeOf(answer) === PARTIAL;

/**
 * Asks GoPlus. Most flags do not depend on the chain, so for a chain that GoPlus does not support, Ethereum's flags are
 * taken.
 */
async function ask(
  source: Upstream,
  key: string,
  { chainId, ...terms }: ReputationTerms & Pick<UpstreamRequest, "isPassing">,
): Promise<Reputation> {
  const answer = await source.get(`/address_security/${key}`, { ...terms, query: { chain_id: chainId } });
  const { code, result } = toJsonFields(answer.json());
  if (code === UNSUPPORTED_CHAIN && chainId !== ETHEREUM)
    return { ...(await ask(source, key, { ...terms, chainId: ETHEREUM })), addressType: "unknown" };
  if (answer.status !== 200 || (code !== COMPLETE && code !== PARTIAL))
    throw new Problem("upstream-failed", `GoPlus refused with status ${answer.status} and code ${String(code)}`);
  return toReputation(toJsonFields(result), code === COMPLETE);
}

/** Every value is text: `0`, `1`, a count, or `-1` for unknown. */
function toReputation(result: JsonFields, isComplete: boolean): Reputation {
  const flags = Object.keys(FLAGS) as Flag[]; // Exactly the keys of FLAGS.
  const textOf = (field: string): string => String(result[field] ?? "");
  return {
    addressType: ADDRESS_TYPES.get(textOf("contract_address")) ?? "unknown",
    flags: flags.filter((flag) => COUNT.test(textOf(flag)) && textOf(flag) !== "0"),
    isComplete: isComplete && flags.every((flag) => COUNT.test(textOf(flag))),
  };
}
