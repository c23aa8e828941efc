import { type Clock, Problem, toValueError, type Upstream } from "#plugin";
import { type BlockSpan, toSpan, toTimes } from "./chain/blocks.ts";
import { createHeaders } from "./chain/headers.ts";
import { checkKept } from "./chain/kept.ts";
import { readInParts } from "./chain/spans.ts";
import { readTransfers, type UsdcTransfer } from "./chain/transfers.ts";
import type { Category, RegisteredService, ServiceRegistry } from "./registry.ts";
import type { LedgerQuery } from "./request.ts";

/** A transfer with its time and its purpose. */
export interface Entry extends UsdcTransfer {
  /** Unix seconds. */
  readonly at: number;
  readonly category: Category;
  /** The recipient's service; undefined when the registry does not list the recipient. */
  readonly service: RegisteredService | undefined;
}

/** The transfers that a query covers. */
export interface LedgerAccount {
  /** Undefined when no block was mined in the period. */
  readonly span: BlockSpan | undefined;
  /** The transfers that the query counts, in chain order. */
  readonly entries: readonly Entry[];
}

/** The settings of `readLedger`. */
export interface LedgerWork {
  readonly node: Upstream;
  readonly registry: ServiceRegistry;
  /** The maximum number of transfers. */
  readonly most: number;
  /** The advice when there are more transfers, as a clause: `choose a shorter one`. */
  readonly otherwise: string;
  readonly signal: AbortSignal;
  readonly report: (progress: string) => void;
  readonly clock: Clock;
  /** How long reading the transfers may take; undefined for no limit but the signal. */
  readonly budgetMs?: number | undefined;
  /** The longest pause that the node may ask for, in seconds. */
  readonly longestPauseSeconds: number;
}

/**
 * Reads the transfers of a wallet from the chain and classifies them.
 * @throws Problem `invalid-input` when there are more than `most`; `upstream-failed`; the signal's reason.
 */
export async function readLedger(query: LedgerQuery, work: LedgerWork): Promise<LedgerAccount> {
  const headers = createHeaders(work.node, work.signal);
  work.report("finding the blocks of the range");
  const span = await toSpan(headers, query.period);
  if (!span) return { span, entries: [] };
  await checkKept(work.node, { headers, span, signal: work.signal });
  const transfers = await readAll(query, work, span);
  work.report("dating the transfers");
  const blocks = transfers.map(({ block }) => block);
  const toTime = await toTimes(headers, span, blocks);
  const entries = transfers
    .filter(({ amount }) => amount >= query.least)
    .map((transfer) => ({ ...transfer, at: toTime(transfer.block), ...recognize(transfer, work.registry) }))
    .filter(({ category }) => query.withOthers || category === "x402");
  return { span, entries };
}

async function readAll({ wallet, direction }: LedgerQuery, work: LedgerWork, span: BlockSpan): Promise<UsdcTransfer[]> {
  const { node, most, otherwise, signal, report, clock, budgetMs, longestPauseSeconds } = work;
  const found = new Map<string, UsdcTransfer>();
  const toTooSlow = (blocks: number): Problem => toSlow(Math.floor(blocks / BLOCKS_PER_DAY), otherwise);
  const budget = budgetMs === undefined ? undefined : { ms: budgetMs, toTooSlow, now: clock.now };
  const length = span.last - span.first + 1;
  await readInParts(span, {
    async read(part) {
      for (const transfer of await readTransfers(node, { span: part, wallet, direction }, signal))
        found.set(`${transfer.block} ${transfer.index}`, transfer);
      if (found.size > most) throw toTooMany(most, otherwise);
    },
    signal,
    longestPauseSeconds,
    budget,
    report: (blocks) => report(`reading transfers: ${Math.floor((100 * blocks) / length)} %`),
  });
  return [...found.values()].sort((one, other) => one.block - other.block || one.index - other.index);
}

/** The registry decides first. For unlisted recipients, EIP-3009 means x402. */
function recognize({ to, isAuthorized }: UsdcTransfer, registry: ServiceRegistry): Pick<Entry, "category" | "service"> {
  const service = registry.find(to);
  return { service, category: service?.category ?? (isAuthorized ? "x402" : "other_transfer") };
}

const BLOCKS_PER_DAY = 43_200;

function toSlow(days: number, otherwise: string): Problem {
  const reach = days < 1 ? "less than a day" : `about ${days} day${days === 1 ? "" : "s"}`;
  const error = `the node can be read for ${reach} of the range in the time of this call; ${otherwise}`;
  return new Problem("invalid-input", undefined, { issues: [toValueError(error, undefined, "from")] });
}

const toTooMany = (most: number, otherwise: string): Problem =>
  new Problem("invalid-input", `There are more than ${most} transfers in the range; ${otherwise}`, {
    issues: [toValueError(`the range holds more than ${most} transfers; ${otherwise}`, undefined, "from")],
  });
