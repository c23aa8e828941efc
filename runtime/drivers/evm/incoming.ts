import type { PublicClient } from "viem";
import type { Hex } from "../../api/capabilities.ts";
import { readNewest } from "./block-times.ts";
import type { EvmClient } from "./client.ts";
import { EIP3009_ABI, plain, TRANSFER_EVENT } from "./token-abi.ts";

/** An EIP-3009 authorization that paid an address. */
export interface IncomingPayment {
  readonly from: Hex;
  readonly nonce: Hex;
  readonly transaction: Hex;
}

export interface IncomingQuery {
  /** The token. */
  readonly asset: string;
  readonly payTo: string;
}

/** How many blocks are searched: 5 minutes on Base and Polygon, less than the time for which payments are stored. */
const WINDOW_BLOCKS = 150n;
/** How many transactions are read: the newest ones. */
const MOST_TRANSACTIONS = 10;

/**
 * Reads the newest EIP-3009 payments to an address: one query of logs, and at most 10 receipts. Transfers without an
 * authorization are left out. @throws Problem `upstream-failed`; viem's error when the node refuses; the signal's reason.
 */
export const readIncoming = (
  client: EvmClient,
  query: IncomingQuery,
  signal: AbortSignal,
): Promise<readonly IncomingPayment[]> => client.ask((chain) => read(chain, query), signal);

async function read(chain: PublicClient, { asset, payTo }: IncomingQuery): Promise<readonly IncomingPayment[]> {
  const { isAddressEqual, parseEventLogs } = await import("viem");
  const [address, to] = [plain(asset), plain(payTo)];
  const latest = await readNewest(chain);
  const transfers = await chain.getLogs({
    address,
    event: TRANSFER_EVENT,
    args: { to },
    fromBlock: latest > WINDOW_BLOCKS ? latest - WINDOW_BLOCKS : 0n,
    toBlock: latest,
  });
  const hashes = [...new Set(transfers.map(({ transactionHash }) => transactionHash))].slice(-MOST_TRANSACTIONS);
  const receipts = await Promise.all(hashes.map((hash) => chain.getTransactionReceipt({ hash })));
  return receipts.flatMap(({ transactionHash: transaction, logs }) => {
    const ofAsset = logs.filter((log) => isAddressEqual(log.address, address));
    const events = parseEventLogs({ abi: EIP3009_ABI, logs: ofAsset });
    return events.flatMap((event, at) => {
      const next = events[at + 1]; // FiatToken emits AuthorizationUsed directly before its Transfer.
      if (event.eventName !== "AuthorizationUsed" || next?.eventName !== "Transfer") return [];
      const { authorizer: from, nonce } = event.args;
      const isPaid = isAddressEqual(next.args.to, to) && next.args.value > 0n; // Anybody can authorize nothing.
      return isPaid ? [{ from, nonce, transaction }] : [];
    });
  });
}
