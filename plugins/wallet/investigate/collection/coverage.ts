import { type Coverage, type Evidence, type Missing, SANCTIONS_LIST } from "../evidence.ts";
import type { Traced } from "./traced.ts";

/** The findings that determine what the sources leave open. */
export interface Limits extends Omit<Evidence, "identity" | "movements" | "coverage" | "missing"> {
  /** Whether OFAC's present list was searched. */
  readonly isListCurrent: boolean;
  readonly traced: Pick<Traced, "coverage" | "sent" | "listed" | "oldestAt" | "movements" | "missing"> & {
    readonly neighbourhood: Pick<Traced["neighbourhood"], "cut" | "behind" | "missing">;
  };
  /** Unix seconds. */
  readonly balancesAt: number;
}

const DAY_SECONDS = 86_400;
/** An address of this age or more is not young, even if its first transaction is unknown. */
const GROWN_UP_DAYS = 30;
/** The points that unread GoPlus data may hide, by hop: the subject, a direct counterparty, others. */
const REPUTATION_AT_STAKE = { 0: 99, 1: 60, 2: 15 } as const;

/** What was read of each source. */
export function toSources({
  subject,
  screened,
  isListCurrent,
  graph,
  traced,
}: Omit<Limits, "activity" | "balances" | "balancesAt" | "investigatedAt">): Coverage[] {
  const { nodes, counterparties } = graph;
  const known = nodes.filter((node) => node.screened?.partial === false).length;
  // A newer list may have come while the counterparties were traced.
  const lists = [
    ...new Set([screened.corpus_version, ...nodes.flatMap((node) => node.screened?.corpus_version ?? [])]),
  ];
  const { neighbourhood } = traced;
  const followed = nodes.filter(({ hop, contacts }) => hop === 1 && contacts !== null).length;
  const second = nodes.filter(({ hop }) => hop === 2).length;
  const { cut = 0, behind = second } = neighbourhood; // A job's step may be of an earlier version.
  const part = cut === 0 ? "" : ` (${cut} of them by their newest transfers alone)`;
  const far = second === behind ? `${second} addresses` : `${second} of ${behind} addresses`;
  return [
    {
      source: SANCTIONS_LIST,
      covers: `The ${lists.length > 1 ? "lists" : "list"} ${lists.join(" and ")}, for all counterparties.`,
      whole: isListCurrent,
    },
    ...(subject.family === "evm"
      ? [{ source: "GoPlus", covers: `${known} of ${nodes.length} addresses.`, whole: known === nodes.length }]
      : []),
    ...traced.coverage,
    {
      source: "Counterparties",
      covers: `${followed} of ${counterparties} direct counterparties were followed${part}, to ${far} behind them.`,
      whole: followed === counterparties && second === behind && cut === 0 && neighbourhood.missing.length === 0,
    },
  ];
}

/** Doubts that remain although no source may have failed. */
export function toDoubts(limits: Limits): Missing[] {
  return [aboutList(limits), aboutReputation(limits), aboutAge(limits), aboutIndex(limits), aboutSums(limits)].filter(
    (doubt) => doubt !== undefined,
  );
}

function aboutList({ isListCurrent }: Limits): Missing | undefined {
  if (isListCurrent) return undefined;
  return { source: SANCTIONS_LIST, message: "The present list could not be read", atStake: 100 };
}

function aboutReputation({ subject, graph: { nodes } }: Limits): Missing | undefined {
  const unknown = nodes.filter(({ screened }) => screened?.partial !== false);
  const [nearest] = unknown;
  if (subject.family !== "evm" || !nearest) return undefined;
  const message = `GoPlus said nothing, or not all that it knows, about ${unknown.length} of ${nodes.length} addresses`;
  return { source: "GoPlus", message, atStake: REPUTATION_AT_STAKE[nearest.hop] };
}

function aboutAge({ activity: { firstSeenAt, seenSince, has_history }, investigatedAt }: Limits): Missing | undefined {
  const days = seenSince === null ? 0 : (investigatedAt - seenSince) / DAY_SECONDS;
  if (firstSeenAt !== null || days >= GROWN_UP_DAYS || has_history === false) return undefined;
  return { source: "age", message: "Its first transaction could not be found, so that it may be young", atStake: 15 };
}

/**
 * An explorer has not indexed the whole chain when it lists nothing of an address that others have seen there (as one that
 * answers every question with 404), or less than half of the transactions that the address has sent. A Solana node that
 * lists nothing of a wallet with a balance has pruned its transactions; when the wallet is empty it may have, unless it
 * keeps all.
 */
function aboutIndex({ subject, activity, balances, traced, screened }: Limits): Missing | undefined {
  const { sent, listed, coverage, oldestAt } = traced;
  const { base_tx_count: count } = activity;
  const toDoubt = (message: string): Missing => ({
    source: coverage[0]?.source ?? "explorer",
    message,
    atStake: 99,
  });
  const isContract = screened.address_type === "contract"; // A contract's nonce counts the contracts that it created.
  if (sent !== null && count !== null && count >= 2 && sent * 2 < count && !isContract)
    return toDoubt(`It lists ${sent} of the ${count} transactions that the address has sent`);
  const { eth_eth: _, ...onThisChain } = balances;
  const holds = Object.values(onThisChain).some((amount) => amount !== null && amount !== "0");
  if (listed !== 0) return undefined;
  if (oldestAt !== null || holds)
    return toDoubt("It lists nothing of the address, which holds something or was in use");
  if (subject.family === "evm" || traced.movements.isWhole || traced.missing.length > 0) return undefined;
  return toDoubt("It lists nothing of the address, and has not kept all transactions");
}

/** Transfers this long before the balances were read are in them. */
const SETTLED_SECONDS = 600;

/**
 * A whole history adds up to the balance, since USDC on Base moves by transfers alone. It does not when a part of the
 * chain is missing between an explorer's index and the newest logs. With recent transfers, only more sent than received
 * shows that.
 */
function aboutSums({ subject, balances, balancesAt, traced }: Limits): Missing | undefined {
  const { isWhole, lastAt, volumes } = traced.movements;
  const isAtRest = lastAt === null || lastAt < balancesAt - SETTLED_SECONDS;
  if (subject.family !== "evm" || !isWhole || balances.base_usdc === null) return undefined;
  const { received = "0", sent = "0" } = volumes.find(({ asset }) => asset === "USDC") ?? {};
  const [came, went, held] = [received, sent, balances.base_usdc].map(toMillionths) as [bigint, bigint, bigint];
  if (isAtRest ? came - went === held : came >= went) return undefined;
  const message = `It holds ${balances.base_usdc} USDC, and the transfers that were listed do not come to that`;
  return { source: traced.coverage[0]?.source ?? "explorer", message, atStake: 99 };
}

function toMillionths(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}
