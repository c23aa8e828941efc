import { Problem } from "../../api/problem.ts";
import { toAccount } from "../account.ts";
import { digestOf } from "../digest.ts";
import { gone, perform } from "../perform.ts";
import { toIssueText } from "../schema/issues.ts";
import type { Service } from "../service.ts";
import type { ScreenManifest } from "../set/manifest.ts";
import type { Store } from "../store.ts";
import { createSingleFlight } from "../time/single-flight.ts";
import { refused } from "./guests.ts";

/** Screens wallets with a service of the set before they may buy. */
export interface Screening {
  /** @throws Problem `buyer-refused`; `unavailable` when the screening failed, or the caller is gone: then nothing is sold. */
  check(wallets: readonly string[], signal: AbortSignal): Promise<void>;
  /** Whether the service need not be asked about a wallet now. */
  isKnown(wallet: string): Promise<boolean>;
}

export interface ScreeningDeps {
  readonly terms: ScreenManifest;
  /** Undefined in a process that does not have the screening service. */
  readonly service: Service | undefined;
  readonly store: Store;
}

const HOUR_MS = 60 * 60_000;
const DEFAULT_HOURS = 24;

/** Answers are cached in the store for all processes, under a key that changes with the rule. */
export function createScreening({ terms, service, store }: ScreeningDeps): Screening {
  const { service: id, refuse, cache_hours: hours = DEFAULT_HOURS } = terms;
  const rule = digestOf([id, refuse]).slice(0, 16);
  const share = createSingleFlight<boolean>();
  const keyOf = (wallet: string): string => `screened:${rule}:${toAccount(wallet)}`;

  return {
    async check(wallets, signal) {
      if (wallets.length === 0) throw refused();
      for (const wallet of wallets.map(toAccount)) {
        const clear = share(wallet, signal, (shared) => isClear(wallet, shared)).catch((error: unknown) => {
          throw signal.aborted ? gone() : error;
        });
        if (!(await clear)) throw refused();
      }
    },
    isKnown: async (wallet) => (await store.get(keyOf(wallet))) !== undefined,
  };

  async function ask(wallet: string, signal: AbortSignal): Promise<boolean> {
    if (!service) throw new TypeError(`${id} is not in this process's set`);
    return !(await askAbout(wallet, service, refuse, signal));
  }

  async function isClear(wallet: string, signal: AbortSignal): Promise<boolean> {
    const key = keyOf(wallet);
    const known = await store.get<{ readonly clear: boolean }>(key);
    if (known) return known.clear;
    const clear = await ask(wallet, signal).catch((cause: unknown) => {
      throw new Problem("unavailable", "The wallet cannot be screened now; nothing was charged", { cause });
    });
    await store.set(key, { clear }, hours * HOUR_MS, "lazy");
    return clear;
  }
}

/**
 * Asks a screening service whether one of these fields is true of a wallet.
 * @throws when the service failed, or left one of them out.
 */
export async function askAbout(
  wallet: string,
  service: Service,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  const { id } = service.manifest;
  const { value, issues } = service.input.check({ wallet }, "body", "input");
  if (issues.length > 0) throw new TypeError(`${id} does not take the wallet: ${toIssueText(issues)}`);
  const call = { id: "screen", signal, payer: undefined, network: undefined };
  const answer = (await perform(service, value, call)) as Readonly<Record<string, unknown>>;
  const found = fields.map((field) => answer[field]);
  if (!found.every((flag) => typeof flag === "boolean")) throw new TypeError(`${id} left out one of ${fields}`);
  return found.includes(true);
}
