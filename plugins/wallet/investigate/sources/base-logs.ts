import { type Clock, Problem, type Upstream } from "#plugin";
import { type Block, isBehind, readBlock, toBehind } from "../../base-blocks.ts";
import { toFailure } from "./failure.ts";
import { findLogTransfers } from "./log-transfers.ts";
import { type Bearing, type BlockRange, type Bounds, FIRST_BEARING, type Search, searchBack } from "./search-back.ts";
import {
  type Depth,
  type History,
  type HistorySource,
  mergeTransfers,
  type Reading,
  type Transfer,
} from "./transfers.ts";

/** Each search sends two requests: for incoming and for outgoing transfers. */
const BOUNDS: Readonly<Record<Depth, Bounds>> = {
  subject: { searches: 10_000, transfers: 10_000 },
  counterparty: { searches: 12, transfers: 1000 },
};
/** How many searches one step makes. */
const SEARCHES_PER_STEP = 40;
/** About 180 days: a block takes 2 seconds. */
const LOOK_BACK = 7_776_000n;

export interface LogsOptions {
  readonly clock: Clock;
  /** Unix milliseconds; no search begins after this time. */
  readonly until: number;
  /** How many blocks are searched; about 180 days by default. */
  readonly lookBack?: bigint;
}

/** USDC transfers on Base from the token's logs, newest first, up to the bounds. */
export const createBaseLogs = (node: Upstream, { lookBack, ...time }: LogsOptions): HistorySource => ({
  title: node.title,
  async read(address, { depth, signal, step }) {
    const ends = await step("logs", async () => {
      const latest = await readBlock(node, "latest", signal);
      if (isBehind(latest, time.clock.now())) throw toBehind(node, latest);
      const { number } = latest;
      const floor = number > (lookBack ?? LOOK_BACK) ? number - (lookBack ?? LOOK_BACK) : 0n;
      return [await readBlock(node, floor, signal), latest].map(({ number, at }) => ({ number: String(number), at }));
    });
    const [oldest, latest] = ends.map(({ number, at }) => ({ number: BigInt(number), at })) as [Block, Block];
    const toTime = createTimes(oldest, latest);
    const search = (span: BlockRange) => findLogTransfers(node, address, { ...span, toTime, signal });
    const range = { from: oldest.number, to: latest.number };
    const found = await searchInSteps(search, { range, bounds: BOUNDS[depth], step, signal, ...time });
    const history = toHistory(found, toTime, latest);
    const isNewest = lookBack !== undefined && found.end === undefined;
    return isNewest ? { ...history, coverage: NEWEST, isCovered: true } : history;
  },
});

/** A part of the search as a step keeps it. */
interface SearchPart {
  readonly transfers: readonly Transfer[];
  readonly since: string;
  readonly bearing: Bearing;
}

interface InSteps extends Pick<LogsOptions, "clock" | "until">, Pick<Reading, "step" | "signal"> {
  readonly range: BlockRange;
  readonly bounds: Bounds;
}

interface Found {
  readonly transfers: readonly Transfer[];
  readonly since: bigint;
  /** Why older blocks were not searched; undefined when the whole range was searched. */
  readonly end?: string;
  /** Whether a failure ended the search, and not a bound. */
  readonly isGap?: boolean;
}

/** @throws the errors of `searchBack` when nothing was searched. */
async function searchInSteps(search: Search, { range, bounds, step, signal, clock, until }: InSteps): Promise<Found> {
  const parts: SearchPart[] = [];
  let since = range.to + 1n;
  for (let left = bounds.searches; ; left -= SEARCHES_PER_STEP) {
    const transfers = mergeTransfers(parts.map((part) => part.transfers)).slice(-bounds.transfers);
    if (transfers.length >= bounds.transfers) return { transfers, since, end: BOUND_MET };
    if (since <= range.from) return { transfers, since };
    if (left <= 0) return { transfers, since, end: BOUND_MET };
    if (parts.length > 0 && clock.now() > until) return { transfers, since, end: TIME_OVER, isGap: true };
    const terms = {
      range: { ...range, to: since - 1n },
      bounds: { ...bounds, searches: Math.min(left, SEARCHES_PER_STEP) },
      bearing: parts.at(-1)?.bearing ?? FIRST_BEARING,
    };
    const part = await step(`logs ${parts.length + 1}`, async (): Promise<SearchPart> => {
      const found = await searchBack(search, terms);
      return { transfers: found.transfers, since: String(found.since), bearing: found.bearing };
    }).catch(toFailure);
    signal.throwIfAborted();
    if (part instanceof Problem) {
      if (parts.length === 0) throw part;
      return { transfers, since, end: part.message, isGap: true };
    }
    parts.push(part);
    since = BigInt(part.since);
  }
}

const NEWEST = "USDC on Base by the token's logs of the newest day, which an explorer may not have yet.";
const BOUND_MET = "the bound of this investigation was met";
const TIME_OVER = "the time of this investigation was over";

function toHistory({ transfers, since, end, isGap }: Found, toTime: (block: bigint) => number, latest: Block): History {
  const blocks = `blocks ${since} (${toDay(toTime(since))}) to ${latest.number} (${toDay(latest.at)})`;
  const rest = end === undefined ? "" : `; older ones were not searched: ${end}`;
  return {
    transfers,
    coverage: `USDC on Base by the token's logs, ${blocks}${rest}.`,
    isWhole: since === 0n && end === undefined,
    gaps: isGap ? [`Logs before block ${since} could not be searched: ${end}`] : [],
    labels: [],
    firstSeenAt: null,
    oldestAt: transfers[0]?.at ?? null,
    sent: null,
    listed: null,
  };
}

/** Interpolates block times: Base has a block every two seconds. */
function createTimes(oldest: Block, latest: Block): (block: bigint) => number {
  const blocks = Number(latest.number - oldest.number);
  const pace = blocks === 0 ? 0 : (latest.at - oldest.at) / blocks;
  return (block) => Math.round(latest.at - Number(latest.number - block) * pace);
}

const toDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10);
