import { type Call, type Host, Problem } from "#plugin";
import type { IntelBundle } from "../../intel/bundle.ts";
import type { Screening } from "../../screen/screening.ts";
import type { Evidence, GraphNode, Missing } from "../evidence.ts";
import { readFirstSent } from "../sources/base-blocks.ts";
import type { Transfer } from "../sources/transfers.ts";
import { BASE_CHAIN_ID, type Subject } from "../subject.ts";
import { toEmptyNeighbourhood, toGraph, toIdentity, toMovements } from "./assembly.ts";
import { correlate, type Registries } from "./correlation.ts";
import { explore, findFunding, type Neighbourhood } from "./graph.ts";
import { createHistories } from "./histories.ts";
import { screenAll } from "./screen-all.ts";

/** The parts of the wallet plugin that an investigation uses. */
export interface CollectionDeps {
  readonly registries: Registries;
  readonly screening: Screening;
  readonly gatherIntel: (wallet: string, signal: AbortSignal) => Promise<IntelBundle>;
}

/** @throws Problem `upstream-failed` when neither balances nor transfers could be read; the signal's reason. */
export type Collect = (subject: Subject, call: Call) => Promise<Evidence>;

/** The results of the transfers step; the long lists of transfers are not kept. */
interface Traced {
  readonly movements: NonNullable<Evidence["movements"]>;
  readonly funding: Transfer | null;
  readonly firstSeenAt: number | null;
  readonly neighbourhood: Neighbourhood;
  readonly missing: readonly Missing[];
}

/** Reads every source, each in a job step of its own. Failed sources are listed as missing. Call during setup. */
export function createCollect(host: Pick<Host, "clock" | "log" | "upstream">, deps: CollectionDeps): Collect {
  const { registries, screening, gatherIntel } = deps;
  const readHistory = createHistories(host);
  const base = host.upstream("base");

  return async (subject, call) => {
    const { address, family } = subject;
    const { signal } = call;
    const missing: Missing[] = [];
    const attempt = createAttempt(call, missing);
    const screened = await attempt("screen", () => screening.screen(address, signal, BASE_CHAIN_ID));
    const profile = await attempt("balances", () => gatherIntel(address, signal));
    const firstSent = await attempt("age", async () =>
      family === "evm" ? readFirstSent(base, address, signal) : null,
    );
    const traced = await attempt("transfers", () => trace(subject, call));
    if (!profile && !traced) throw toProblem(missing);
    const known = {
      subject,
      ensName: profile?.identity.ens_name ?? null,
      funding: traced?.funding ?? null,
      neighbourhood: traced?.neighbourhood ?? toEmptyNeighbourhood(address),
    };
    const correlation = await call.step("identity", () => correlate(known, registries, signal));
    const others = [...known.neighbourhood.members.slice(1), ...correlation.links].map((each) => each.address);
    const screens = await call.step("screen counterparties", () => screenAll([...new Set(others)], screening, signal));
    const all = { ...screens, ...(screened && { [address]: screened }) };
    const graph = toGraph(known.neighbourhood, correlation, all);
    return {
      subject,
      investigatedAt: Math.floor(host.clock.now() / 1000),
      screened,
      balances: profile?.balances ?? null,
      activity: profile && { ...profile.activity, firstSeenAt: toEarliest([firstSent, traced?.firstSeenAt ?? null]) },
      identity: toIdentity(known, profile, { correlation, screens }),
      movements: traced?.movements ?? null,
      graph,
      missing: [
        ...missing,
        ...(profile?.errors.filter(({ source }) => source !== "sanctions") ?? []), // The screening above counts.
        ...[...(traced?.missing ?? []), ...correlation.missing],
        ...(family === "evm" ? toUnknown(graph.nodes) : []),
      ],
    };
  };

  async function trace(subject: Subject, call: Call): Promise<Traced> {
    const history = await readHistory(subject, "subject", call.signal);
    call.report("graph");
    const neighbourhood = await explore(subject, history, { readHistory, signal: call.signal });
    return {
      movements: toMovements(subject.address, history),
      funding: findFunding(subject.address, history),
      firstSeenAt: history.firstSeenAt ?? history.transfers[0]?.at ?? null,
      neighbourhood,
      missing: [...history.missing, ...neighbourhood.missing],
    };
  }
}

/** Runs a step and records its failure as missing. Rethrows the call's abort and failures of the job store. */
function createAttempt({ step, signal }: Call, missing: Missing[]) {
  return async <T>(source: string, work: () => Promise<T>): Promise<T | null> => {
    let failure: Problem | undefined;
    try {
      return await step(source, async () => {
        try {
          return await work();
        } catch (error) {
          failure = Problem.from(error);
          throw error;
        }
      });
    } catch (error) {
      signal.throwIfAborted();
      if (!failure || failure.code === "internal") throw error;
      missing.push({ source, message: failure.message });
      return null;
    }
  };
}

/** Says how many EVM addresses GoPlus did not answer, or only in part. */
function toUnknown(nodes: readonly GraphNode[]): Missing[] {
  const unknown = nodes.filter(({ screened }) => screened?.partial);
  if (unknown.length === 0) return [];
  const message = `GoPlus said nothing, or not all that it knows, about ${unknown.length} of ${nodes.length} addresses`;
  return [{ source: "reputation", message }];
}

function toProblem(missing: readonly Missing[]): Problem {
  const reasons = missing.map(({ source, message }) => `${source}: ${message}`).join("; ");
  return new Problem("upstream-failed", `Neither balances nor transfers could be read (${reasons})`);
}

const toEarliest = (times: readonly (number | null)[]): number | null => {
  const known = times.filter((time) => time !== null);
  return known.length > 0 ? Math.min(...known) : null;
};
