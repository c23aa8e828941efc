import type { Upstream } from "#plugin";
import type { Direction } from "../request.ts";
import type { BlockSpan } from "./blocks.ts";
import { EVENTS, readLogs, type TokenLog, type Topics, toTopic, toTopicAddress } from "./logs.ts";

/** A USDC transfer; addresses and hashes in lower case. */
export interface UsdcTransfer {
  readonly from: string;
  readonly to: string;
  /** In atomic units, above zero. */
  readonly amount: bigint;
  readonly block: number;
  readonly index: number;
  readonly tx: string;
  /** True when moved by the payer's signature (EIP-3009), not by the payer's own transaction or an allowance. */
  readonly isAuthorized: boolean;
}

export interface TransferFilter {
  /** In lower case. */
  readonly wallet: string;
  readonly direction: Direction;
}

/** How many authorizers one `eth_getLogs` query names. */
const AUTHORIZERS_AT_ONCE = 200;

/**
 * The transfers of a wallet in a span of blocks, unordered. Transfers from the wallet to itself are omitted, and so are
 * transfers of amount 0, which anybody can make in another's name.
 * @throws Problem `upstream-failed`; the signal's reason.
 */
export async function readTransfers(
  node: Upstream,
  { span, wallet, direction }: TransferFilter & { readonly span: BlockSpan },
  signal: AbortSignal,
): Promise<readonly UsdcTransfer[]> {
  const own = [toTopic(wallet)];
  const read = (topics: Topics): Promise<readonly TokenLog[]> => readLogs(node, { span, topics }, signal);
  const [outbound, inbound] = await Promise.all([
    direction === "inbound" ? [] : read([[EVENTS.transfer, EVENTS.authorizationUsed], own]),
    direction === "outbound" ? [] : read([[EVENTS.transfer], null, own]),
  ]);
  const used = new Set(outbound.filter(isAuthorization).map(toPlace));
  const payers = [...new Set(inbound.map(({ topics }) => topics[1]))];
  for (let at = 0; at < payers.length; at += AUTHORIZERS_AT_ONCE)
    for (const log of await read([[EVENTS.authorizationUsed], payers.slice(at, at + AUTHORIZERS_AT_ONCE)]))
      used.add(toPlace(log));
  return [...outbound.filter((log) => !isAuthorization(log)), ...inbound]
    .map((log) => toTransfer(log, used))
    .filter(({ from, to, amount }) => from !== to && amount > 0n);
}

const isAuthorization = ({ topics }: TokenLog): boolean => topics[0] === EVENTS.authorizationUsed;

const toPlace = ({ tx, index, topics }: TokenLog): string => `${tx} ${index} ${topics[1]}`;

/**
 * USDC emits AuthorizationUsed only in the four functions that move money by authorization (selectors e3ee160e,
 * cf092995, ef55bec6 and 88b7ab63), right before their Transfer. So an AuthorizationUsed directly before a transfer
 * shows that one of them was called, even through another contract.
 */
function toTransfer(log: TokenLog, used: ReadonlySet<string>): UsdcTransfer {
  const { topics, data, block, index, tx } = log;
  return {
    from: toTopicAddress(topics[1]),
    to: toTopicAddress(topics[2]),
    amount: BigInt(data),
    block,
    index,
    tx,
    isAuthorized: used.has(toPlace({ ...log, index: index - 1 })),
  };
}
