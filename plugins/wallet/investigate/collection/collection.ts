import type { Call, Host } from "#plugin";
import { createEns } from "../../names/ens/ens.ts";
import { createSol } from "../../names/sol/sol.ts";
import type { Screening } from "../../screen/screening.ts";
import type { Evidence } from "../evidence.ts";
import { BASE_CHAIN_ID, type Subject } from "../subject.ts";
import { toActivity, toGraph, toIdentity, toMovements } from "./assembly.ts";
import { correlate } from "./correlation.ts";
import { toDoubts, toSources } from "./coverage.ts";
import { explore, findFunding } from "./graph.ts";
import { createHistories } from "./histories.ts";
import { PATIENCE_MS, toPatientHost } from "./patience.ts";
import { findFirstSent, type Profile, readProfile } from "./profile.ts";
import { screenAll } from "./screen-all.ts";
import type { Traced } from "./traced.ts";

/**
 * @param written the subject as the caller wrote it, which shows a wrong checksum.
 * @throws Problem `upstream-failed` when the subject's balances or transfers could not be read; the signal's reason.
 */
export type Collect = (subject: Subject, written: string, call: Call) => Promise<Evidence>;

type CollectionHost = Pick<Host, "cache" | "clock" | "log" | "upstream" | "web">;

/** The upstreams that every job reads. */
const SOURCES = ["base", "ethereum", "solana", "blockscout"];

/**
 * Reads every source in a job step of its own, and waits for sources when necessary. Failed sources are listed as
 * missing.
 */
export function createCollect({ cache, clock, log, upstream, web }: CollectionHost, screening: Screening): Collect {
  const sources = new Map(SOURCES.map((id) => [id, upstream(id)])); // Taken during setup.
  const opened = (id: string) => sources.get(id) ?? upstream(id);
  const host: CollectionHost = { cache, clock, log, web, upstream: opened };
  return async (subject, written, call) => {
    const { address } = subject;
    const { signal, step } = call;
    const beginning = host.clock.now();
    const untilOf = (part: keyof typeof PATIENCE_MS): number => beginning + PATIENCE_MS[part];
    const openRegistries = (part: keyof typeof PATIENCE_MS) => {
      const patient = toPatientHost(host, untilOf(part));
      return { ENS: createEns(patient), SNS: createSol(patient) };
    };
    const terms = { host, beginning, signal };
    const isListCurrent = await step("list", () => screening.isListCurrent());
    const screened = await step("screen", () =>
      screening.screen(written, { signal, chainId: BASE_CHAIN_ID, patientUntil: untilOf("balances") }),
    );
    const profile: Profile = await step("balances", () =>
      readProfile(subject, { ...terms, registries: openRegistries("balances") }),
    );
    const firstSent = await step("age", () => findFirstSent(subject, terms));
    const traced = await step("transfers", () => trace(subject, call, beginning));
    const { neighbourhood, funding, movements } = traced;
    const known = { subject, ensName: profile.identity.ens_name, funding, neighbourhood };
    const correlation = await step("identity", () => correlate(known, openRegistries("names"), signal));
    const others = [...neighbourhood.members.slice(1), ...correlation.links].map((each) => each.address);
    const patientUntil = untilOf("screening");
    const screens = await screenAll([...new Set(others)], screening, { step, signal, patientUntil });
    const graph = toGraph(neighbourhood, correlation, { ...screens, [address]: screened });
    const activity = toActivity(profile, firstSent, traced);
    const investigatedAt = Math.floor(host.clock.now() / 1000);
    const found = { subject, investigatedAt, screened, balances: profile.balances, activity, movements, graph };
    return {
      ...found,
      identity: toIdentity(known, profile, { correlation, screens }),
      coverage: toSources({ ...found, isListCurrent, traced }),
      missing: [
        ...profile.missing,
        ...traced.missing,
        ...neighbourhood.missing,
        ...correlation.missing,
        ...toDoubts({ ...found, isListCurrent, traced, balancesAt: profile.readAt }),
      ],
    };
  };

  async function trace(subject: Subject, { step, signal, report }: Call, beginning: number): Promise<Traced> {
    const { isListed } = screening;
    const readHistory = createHistories(host, beginning, isListed);
    const history = await readHistory(subject, { depth: "subject", signal, step });
    report("graph");
    const neighbourhood = await explore(subject, history, { readHistory, isListed, step, signal });
    const { transfers, labels, isWhole, ...rest } = history;
    return {
      ...rest,
      movements: toMovements(subject.address, { transfers, isWhole }),
      funding: findFunding(subject.address, history),
      neighbourhood,
    };
  }
}
