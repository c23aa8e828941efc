import { type Host, Problem } from "#plugin";
import { createIntel } from "../../intel/bundle.ts";
import type { IntelBundle } from "../../intel/findings.ts";
import type { Missing } from "../evidence.ts";
import { toFailure } from "../sources/failure.ts";
import { readFirstSent } from "../sources/first-sent.ts";
import type { Subject } from "../subject.ts";
import type { Registries } from "./correlation.ts";
import { PATIENCE_MS, toPatientHost } from "./patience.ts";

/** Balances, activity and names of the subject, and which of them could not be read. */
export interface Profile extends Pick<IntelBundle, "balances" | "activity" | "identity"> {
  readonly missing: readonly Missing[];
  /** When it was begun to be read: Unix seconds. */
  readonly readAt: number;
}

/** A report requires these sources. */
const ESSENTIAL: ReadonlySet<string> = new Set(["base_eth", "base_usdc", "sol", "solana_usdc"]);
/**
 * The points that other sources may hide: a name leads to addresses of the same owner, a count shows that an address
 * was never used.
 */
const AT_STAKE: Readonly<Record<string, number>> = {
  ens_name: 80,
  eth_tx_count: 5,
  base_tx_count: 5,
  solana_history: 5,
};
/** Longer than its upstreams wait. */
const LONGEST_MS = 10 * 60_000;

/**
 * Reads the subject's balances, activity and names. @param beginning of the attempt, in Unix milliseconds.
 * @throws Problem `upstream-failed` when a balance on the subject's own chain could not be read; the signal's reason.
 */
export async function readProfile(
  { address }: Subject,
  { host, beginning, registries, signal }: ProfileTerms,
): Promise<Profile> {
  const readAt = Math.floor(host.clock.now() / 1000);
  const patient = toPatientHost(host, beginning + PATIENCE_MS.balances);
  const gather = createIntel(patient, { registries, takesLag: true, patienceMs: LONGEST_MS });
  const { balances, activity, identity, errors } = await gather(address, signal);
  const fatal = errors.filter(({ source }) => ESSENTIAL.has(source));
  if (fatal.length > 0) throw new Problem("upstream-failed", `No balances could be read: ${toReasons(fatal)}`);
  const missing = errors.map(({ source, message }) => ({ source, message, atStake: AT_STAKE[source] ?? 0 }));
  return { balances, activity, identity, missing, readAt };
}

export interface ProfileTerms {
  readonly host: Pick<Host, "cache" | "clock" | "log" | "upstream">;
  readonly beginning: number;
  readonly registries: Registries;
  readonly signal: AbortSignal;
}

/** The first transaction that an EVM address sent on Base: Unix seconds. Null when it sent none, or the node has pruned old states. */
export async function findFirstSent(
  { address, family }: Subject,
  { host, beginning, signal }: Omit<ProfileTerms, "registries">,
): Promise<number | null> {
  if (family !== "evm") return null;
  const node = toPatientHost(host, beginning + PATIENCE_MS.balances).upstream("base");
  const found = await readFirstSent(node, address, signal).catch(toFailure);
  signal.throwIfAborted();
  return found instanceof Problem ? null : found;
}

const toReasons = (errors: readonly { readonly message: string }[]): string =>
  [...new Set(errors.map(({ message }) => message))].join("; ");
