import { type Cached, type Host, Problem } from "#plugin";
import type { Examination, Screening, ScreenResponse } from "../screen/screening.ts";

/** Reads one thing about a wallet. @param key the wallet's canonical spelling. */
export type Read<T> = (key: string, signal: AbortSignal) => Promise<T>;

/** What is read about a wallet, by the names that failures are told with. */
export type Sources<Name extends string> = Readonly<Record<Name, Read<unknown>>>;

/** A source that failed, and why in a sentence. */
export interface SourceError<Name> {
  readonly source: Name;
  readonly message: string;
}

/** What the sources gave; null where one failed. */
export interface Gathered<Name extends string, Asked extends Sources<Name>> {
  readonly values: { readonly [Each in Name]: Awaited<ReturnType<Asked[Each]>> | null };
  readonly sanctions: ScreenResponse | null;
  readonly errors: SourceError<Name | "sanctions">[];
  /** When the oldest of all this was read: milliseconds since the Unix epoch. */
  readonly readAtMs: number;
}

/** @throws Problem `upstream-failed` when no source answered: a screening alone, which never needs one, is no intelligence. */
export type Gather = <Name extends string, Asked extends Sources<Name>>(
  sources: Asked & Sources<Name>,
  key: string,
  signal: AbortSignal,
) => Promise<Gathered<Name, Asked>>;

export interface GatherOptions extends Pick<Host, "cache" | "clock" | "log"> {
  readonly screening: Screening;
  /** How long each source is waited for. */
  readonly patienceMs: number;
}

/** How long a value is kept. */
const KEPT_MS = 60_000;

/**
 * Asks all sources of a wallet at once, and has it screened. What a source gives is kept for a minute, for all processes;
 * what fails is asked again next time.
 */
export function createGather({ cache, clock, log, screening, patienceMs }: GatherOptions): Gather {
  async function ask<Name extends string, T>(
    source: Name,
    read: (signal: AbortSignal) => Promise<Cached<T>>,
    signal: AbortSignal,
  ) {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
    try {
      const { value, storedAt } = await read(bounded);
      return { source, value, readAtMs: storedAt };
    } catch (error) {
      if (!(error instanceof Problem) && !bounded.aborted) log.error("intel.source-failed", { source, error });
      const message = bounded.aborted ? "No answer came in time" : Problem.from(error).message;
      return { source, value: null, error: { source, message }, readAtMs: clock.now() };
    }
  }

  /** The screening keeps by itself what it may. */
  async function examine(key: string, signal: AbortSignal): Promise<Cached<Examination>> {
    return { value: await screening.examine(key, signal), storedAt: clock.now() };
  }

  return async <Name extends string, Asked extends Sources<Name>>(
    sources: Asked & Sources<Name>,
    key: string,
    signal: AbortSignal,
  ) => {
    const readKept = (name: Name, signal: AbortSignal): Promise<Cached<unknown>> =>
      cache.remember(`intel-1:${name}:${key}`, { ttlMs: KEPT_MS, signal }, (shared) => sources[name](key, shared));
    const [screened, ...results] = await Promise.all([
      ask("sanctions", (bounded) => examine(key, bounded), signal),
      ...(Object.keys(sources) as Name[]).map((name) => ask(name, (bounded) => readKept(name, bounded), signal)),
    ]);
    signal.throwIfAborted();
    if (results.every(({ error }) => error)) throw toProblem(results.flatMap(({ error }) => error ?? []));
    const all = [...results, screened];
    const message = screened.value?.failure;
    const values = Object.fromEntries(results.map(({ source, value }) => [source, value]));
    return {
      values: values as Gathered<Name, Asked>["values"], // each is what its source gave
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
