import { type Host, Problem, type Upstream } from "#plugin";
import { type JsonFields, toJsonFields } from "../fields.ts";
import { FLAGS, type Flag } from "./flags.ts";

/** GoPlus' data about an EVM address. */
export interface Reputation {
  /** On the chain that was asked about. */
  readonly addressType: "eoa" | "contract" | "unknown";
  readonly flags: readonly Flag[];
  /** False when GoPlus has not answered some of the flags (yet). */
  readonly isComplete: boolean;
}

/** @returns undefined when GoPlus failed or did not answer in time. @throws the signal's reason. */
export type FindReputation = (key: string, chainId: string, signal: AbortSignal) => Promise<Reputation | undefined>;

const PREFIX = "screen:goplus-2:";
const KEPT_MS = 600_000;
/** How long to wait for GoPlus; longer than one attempt's timeout, so that the upstream counts the failure. */
const PATIENCE_MS = 5_000;
/** The answer's `code`: complete, or partial (the rest follows in about 15 seconds). */
const COMPLETE = 1;
const PARTIAL = 2;
const UNSUPPORTED_CHAIN = 2022;
const ETHEREUM = "1";
const COUNT = /^(?:0|[1-9]\d*)$/;
const ADDRESS_TYPES: Readonly<Record<string, Reputation["addressType"]>> = { "0": "eoa", "1": "contract" };

/** Reads GoPlus' address security API; complete answers are cached for ten minutes. @see https://docs.gopluslabs.io */
export function createReputation({ cache, log, upstream }: Pick<Host, "cache" | "log" | "upstream">): FindReputation {
  const source = upstream("goplus");
  return async (key, chainId, signal) => {
    const place = `${PREFIX}${chainId}:${key}`;
    try {
      const kept = await cache.get<Reputation>(place);
      if (kept) return kept.value;
      const found = await ask(source, { key, chainId }, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]));
      if (found.isComplete) await cache.set(place, found, KEPT_MS);
      return found;
    } catch (error) {
      signal.throwIfAborted();
      log.warn("screen.no-reputation", { error });
      return undefined;
    }
  };
}

/** Most flags do not depend on the chain: for one that GoPlus does not support, Ethereum's are taken. */
async function ask(
  source: Upstream,
  { key, chainId }: { readonly key: string; readonly chainId: string },
  signal: AbortSignal,
): Promise<Reputation> {
  const answer = await source.get(`/address_security/${key}`, { signal, query: { chain_id: chainId } });
  const { code, result } = toJsonFields(answer.json());
  if (code === UNSUPPORTED_CHAIN && chainId !== ETHEREUM)
    return { ...(await ask(source, { key, chainId: ETHEREUM }, signal)), addressType: "unknown" };
  if (answer.status !== 200 || (code !== COMPLETE && code !== PARTIAL))
    throw new Problem("upstream-failed", `GoPlus refused with status ${answer.status} and code ${String(code)}`);
  return toReputation(toJsonFields(result), code === COMPLETE);
}

/** Every value is text: `0`, `1`, a count, or `-1` for unknown. */
function toReputation(result: JsonFields, isComplete: boolean): Reputation {
  const flags = Object.keys(FLAGS) as Flag[]; // Exactly its keys.
  const textOf = (field: string): string => String(result[field] ?? "");
  return {
    addressType: ADDRESS_TYPES[textOf("contract_address")] ?? "unknown",
    flags: flags.filter((flag) => COUNT.test(textOf(flag)) && textOf(flag) !== "0"),
    isComplete: isComplete && flags.every((flag) => COUNT.test(textOf(flag))),
  };
}
