import { type Host, Problem } from "#plugin";
import type { Missing } from "../evidence.ts";
import { createBaseLogs } from "../sources/base-logs.ts";
import { createExplorer } from "../sources/explorer.ts";
import { createSolanaHistory } from "../sources/solana-history.ts";
import { type Depth, type HistorySource, type Label, mergeTransfers, type Transfer } from "../sources/transfers.ts";
import type { Subject } from "../subject.ts";

/** An address's transfers, merged from all sources. */
export interface MergedHistory {
  /** Oldest first. */
  readonly transfers: readonly Transfer[];
  /** One sentence per source. */
  readonly coverage: readonly string[];
  /** Whether one of the sources is complete. */
  readonly isWhole: boolean;
  readonly labels: readonly Label[];
  /** Unix seconds. */
  readonly firstSeenAt: number | null;
  readonly missing: readonly Missing[];
}

/** @throws Problem `upstream-failed` when every source failed; the signal's reason. */
export type ReadHistory = (subject: Subject, depth: Depth, signal: AbortSignal) => Promise<MergedHistory>;

/** For the subject every source of its chain is read, for a counterparty the first one that answers. */
export function createHistories(host: Pick<Host, "upstream" | "log">): ReadHistory {
  const sources: Readonly<Record<Subject["family"], readonly HistorySource[]>> = {
    evm: [createExplorer(host.upstream("blockscout")), createBaseLogs(host.upstream("base"))],
    solana: [createSolanaHistory(host.upstream("solana"))],
  };

  return async ({ family, address }, depth, signal) => {
    const answers =
      depth === "subject"
        ? await Promise.all(sources[family].map((source) => ask(source, address, depth, signal)))
        : await askInTurn(sources[family], address, signal);
    signal.throwIfAborted();
    const history = answers.flatMap(({ history }) => history ?? []);
    const missing = answers.flatMap(({ failure }) => failure ?? []);
    if (history.length === 0) {
      const reasons = missing.map(({ message }) => message).join("; ");
      throw new Problem("upstream-failed", `No transfers could be read: ${reasons}`);
    }
    return {
      transfers: mergeTransfers(history.map(({ transfers }) => transfers)),
      coverage: history.map(({ coverage }) => coverage),
      isWhole: history.some(({ isWhole }) => isWhole),
      labels: history.flatMap(({ labels }) => labels),
      firstSeenAt: history.find(({ firstSeenAt }) => firstSeenAt !== null)?.firstSeenAt ?? null,
      missing,
    };
  };

  async function askInTurn(candidates: readonly HistorySource[], address: string, signal: AbortSignal) {
    const answers = [];
    for (const source of candidates) {
      const answer = await ask(source, address, "counterparty", signal);
      answers.push(answer);
      if (answer.history) break;
    }
    return answers;
  }

  async function ask(source: HistorySource, address: string, depth: Depth, signal: AbortSignal) {
    try {
      return { history: await source.read(address, depth, signal) };
    } catch (error) {
      if (!(error instanceof Problem) && !signal.aborted) host.log.error("investigate.source-failed", { error });
      return { failure: { source: source.title, message: Problem.from(error).message } };
    }
  }
}
