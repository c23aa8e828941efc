import { type Host, Problem } from "#plugin";
import type { Coverage, Missing } from "../evidence.ts";
import { createBaseLogs } from "../sources/base-logs.ts";
import { createExplorer } from "../sources/explorer.ts";
import { toFailure } from "../sources/failure.ts";
import { createSolanaHistory } from "../sources/solana-history.ts";
import { type History, type HistorySource, mergeTransfers, type Reading } from "../sources/transfers.ts";
import type { Subject } from "../subject.ts";
import { withoutNoise } from "./noise.ts";
import { PATIENCE_MS, toPatient } from "./patience.ts";

/** An address's transfers, merged from all sources. */
export interface MergedHistory extends Omit<History, "coverage" | "isWhole" | "isCovered" | "gaps"> {
  /** What was read from each source. */
  readonly coverage: readonly Coverage[];
  /** Whether one of the sources is complete. */
  readonly isWhole: boolean;
  readonly missing: readonly Missing[];
}

/** @throws Problem `upstream-failed` when every source failed; the signal's reason. */
export type ReadHistory = (subject: Subject, reading: Reading) => Promise<MergedHistory>;

/** A source's answer or failure. */
interface Answer {
  readonly title: string;
  readonly history?: History;
  readonly failure?: string;
}

/** A little more than the newest day, because an explorer's index may lag behind its chain. */
const LAG_BLOCKS = 50_000n;
/** The points that a gap in the transfers of the subject or of a counterparty may hide. */
const AT_STAKE = { subject: 99, counterparty: 45 } as const;

/**
 * The subject's transfers come from an explorer, and the newest also from the token's logs. When the explorer fails or
 * has a gap, the logs are searched as far back as possible. A counterparty's transfers come from the first source that
 * answers.
 * @param beginning of the attempt, in Unix milliseconds. @param isListed whether the sanctions list names an address.
 */
export function createHistories(
  host: Pick<Host, "upstream" | "clock">,
  beginning: number,
  isListed: (address: string) => Promise<boolean>,
): ReadHistory {
  const [base, blockscout, solana] = [host.upstream("base"), host.upstream("blockscout"), host.upstream("solana")];
  const untilOf = (part: keyof typeof PATIENCE_MS): number => beginning + PATIENCE_MS[part];
  const toLogs = (until: number, lookBack?: bigint): HistorySource =>
    createBaseLogs(toPatient(base, until), { clock: host.clock, until, ...(lookBack !== undefined && { lookBack }) });

  const readSubject = {
    async evm(address: string, reading: Reading): Promise<Answer[]> {
      const explored = await ask(
        createExplorer(toPatient(blockscout, untilOf("explorer")), host.clock),
        address,
        reading,
      );
      const isEnough = explored.history?.gaps.length === 0;
      const logs = toLogs(untilOf("transfers"), isEnough ? LAG_BLOCKS : undefined);
      return [explored, await ask(logs, address, reading)];
    },
    async solana(address: string, reading: Reading): Promise<Answer[]> {
      return [await ask(createSolanaHistory(toPatient(solana, untilOf("transfers"))), address, reading)];
    },
  };

  const readCounterparty = {
    async evm(address: string, reading: Reading): Promise<Answer[]> {
      const until = untilOf("counterparties");
      const explored = await ask(createExplorer(toPatient(blockscout, until), host.clock), address, reading);
      return explored.history ? [explored] : [explored, await ask(toLogs(until), address, reading)];
    },
    async solana(address: string, reading: Reading): Promise<Answer[]> {
      return [await ask(createSolanaHistory(toPatient(solana, untilOf("counterparties"))), address, reading)];
    },
  };

  return async ({ family, address }, reading) => {
    const read = reading.depth === "subject" ? readSubject : readCounterparty;
    const answers = await read[family](address, reading);
    reading.signal.throwIfAborted();
    const merged = merge(answers, reading.depth);
    if (family !== "solana") return merged;
    return { ...merged, transfers: await withoutNoise(address, merged.transfers, isListed) };
  };

  async function ask(source: HistorySource, address: string, reading: Reading): Promise<Answer> {
    const { title } = source;
    try {
      return { title, history: await source.read(address, reading) };
    } catch (error) {
      reading.signal.throwIfAborted();
      return { title, failure: toFailure(error).message };
    }
  }
}

function merge(answers: readonly Answer[], depth: Reading["depth"]): MergedHistory {
  const histories = answers.flatMap(({ history }) => history ?? []);
  const failures = answers.flatMap(({ title, failure }) => (failure === undefined ? [] : [{ title, failure }]));
  if (histories.length === 0)
    throw new Problem(
      "upstream-failed",
      `No transfers could be read: ${failures.map((each) => each.failure).join("; ")}`,
    );
  const times = histories.flatMap(({ oldestAt }) => oldestAt ?? []);
  const isWhole = histories.some((history) => history.isWhole);
  const gaps = answers.flatMap(({ title, history, failure }) =>
    [...(history?.gaps ?? []), ...(failure === undefined ? [] : [failure])].map((message) => ({ title, message })),
  );
  return {
    transfers: mergeTransfers(histories.map(({ transfers }) => transfers)),
    coverage: answers.flatMap(({ title, history }) =>
      history ? [{ source: title, covers: history.coverage, whole: history.isCovered ?? history.isWhole }] : [],
    ),
    isWhole,
    labels: histories.flatMap(({ labels }) => labels),
    firstSeenAt: histories.find(({ firstSeenAt }) => firstSeenAt !== null)?.firstSeenAt ?? null,
    oldestAt: times.length > 0 ? Math.min(...times) : null,
    sent: histories.find(({ sent }) => sent !== null)?.sent ?? null,
    listed: histories.find(({ listed }) => listed !== null)?.listed ?? null,
    missing: gaps.map(({ title, message }) => ({ source: title, message, atStake: isWhole ? 0 : AT_STAKE[depth] })),
  };
}
