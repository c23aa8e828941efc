import { type Cached, type Host, Problem } from "#plugin";
import type { ScreenResponse } from "../screen/response.ts";
import type { Examination, Screening } from "../screen/screening.ts";

/** Reads one fact about a wallet. @param key the wallet's canonical spelling. */
export type ReadSource<T> = (key: string, signal: AbortSignal) => Promise<T>;

/** The sources of a wallet, by the names used in `errors`. */
export type WalletSources<Name extends string> = Readonly<Record<Name, ReadSource<unknown>>>;

/** The wallet that is asked about. */
export interface SentWallet {
  /** As the caller wrote it, perhaps with its chain. */
  readonly wallet: string;
  /** Its canonical spelling. */
  readonly key: string;
}

/** A failed source, with the reason in a sentence. */
export interface SourceError<Name> {
  readonly source: Name;
  readonly message: string;
}

/** The values of all sources; null for those that failed. */
export interface Gathered<Name extends string, Asked extends WalletSources<Name>> {
  readonly values: { readonly [Each in Name]: Awaited<ReturnType<Asked[Each]>> | null };
  readonly sanctions: ScreenResponse | null;
  readonly errors: SourceError<Name | "sanctions">[];
  /** When the oldest part was read: milliseconds since the Unix epoch. */
  readonly readAtMs: number;
}

/**
 * @throws Problem `upstream-failed` when no source but the screening answered. The screening alone is not enough,
 *   because its list is in memory.
 */
export type Gather = <Name extends string, Asked extends WalletSources<Name>>(
  sources: Asked & WalletSources<Name>,
  sent: SentWallet,
  signal: AbortSignal,
) => Promise<Gathered<Name, Asked>>;

export interface GatherOptions extends Pick<Host, "cache" | "clock" | "log"> {
  /** When omitted, the wallet is not screened. */
  readonly screening?: Screening | undefined;
  /** How long to wait for each source but the screening, which has a limit of its own. */
  readonly patienceMs: number;
  /** The beginning of the keys under which values are cached. */
  readonly place: string;
}

/** How long a value is cached. */
const KEPT_MS = 60_000;

/**
 * Reads all sources of a wallet and screens it, concurrently. Values are cached for a minute in the shared store;
 * failures are not cached.
 */
export function createGather({ cache, clock, log, screening, patienceMs, place }: GatherOptions): Gather {
  async function ask<Name extends string, T>(
    source: Name,
    read: (signal: AbortSignal) => Promise<Cached<T>>,
    bounded: AbortSignal,
  ) {
    try {
      const { value, storedAt } = await read(bounded);
      return { source, value, readAtMs: storedAt };
    } catch (error) {
      if (!(error instanceof Problem) && !bounded.aborted) log.error("intel.source-failed", { source, error });
      const message = bounded.aborted ? "No answer came in time" : Problem.from(error).message;
      return { source, value: null, error: { source, message }, readAtMs: clock.now() };
    }
  }

  const bound = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);

  /**
   * Not cached and not bounded here, because the screening has its own cache, and gives GoPlus up by itself: cut off here,
   * what the sanctions list says would be lost, too.
   */
  async function examine(wallet: string, signal: AbortSignal): Promise<Cached<Examination | null>> {
    return { value: (await screening?.examine(wallet, { signal })) ?? null, storedAt: clock.now() };
  }

  return async <Name extends string, Asked extends WalletSources<Name>>(
    sources: Asked & WalletSources<Name>,
    { wallet, key }: SentWallet,
    signal: AbortSignal,
  ) => {
    const readKept = (name: Name, signal: AbortSignal): Promise<Cached<unknown>> =>
      cache.remember(`${place}:${name}:${key}`, { ttlMs: KEPT_MS, signal }, (shared) => sources[name](key, shared));
    const [screened, ...results] = await Promise.all([
      ask("sanctions", () => examine(wallet, signal), signal),
      ...(Object.keys(sources) as Name[]).map((name) => ask(name, (bounded) => readKept(name, bounded), bound(signal))),
    ]);
    signal.throwIfAborted();
    if (results.every(({ error }) => error)) throw toProblem(results.flatMap(({ error }) => error ?? []));
    const all = [...results, screened];
    const message = screened.value?.failure;
    const values = Object.fromEntries(results.map(({ source, value }) => [source, value]));
    return {
      values: values as Gathered<Name, Asked>["values"], // Each value has the type of the source with its name.
      sanctions: screened.value?.response ?? null,
      errors: [...all.flatMap(({ error }) => error ?? []), ...(message ? [{ source: screened.source, message }] : [])],
      readAtMs: Math.min(...all.map(({ readAtMs }) => readAtMs)),
    };
  };
}

function toProblem(errors: readonly SourceError<string>[]): Problem {
  const reasons = new Set(errors.map(({ message }) => message));
  return new Problem("upstream-failed", `No source could be read: ${[...reasons].join("; ")}`);
}
