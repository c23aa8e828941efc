import { type Hex, Problem, type Upstream } from "#plugin";
import type { ChainFields } from "./chain-fields.ts";
import { createRead } from "./node.ts";

/**
 * Reads a transaction of any type, mined or pending; undefined when the node does not know the hash. Transaction, receipt
 * and block must be what was asked for and agree on the block's hash: after a reorganization in between, all three are read
 * again. A transaction that is shown as pending twice, and has a receipt, is mined: its hash stands for its other fields.
 * @throws Problem `upstream-failed`.
 */
export async function readEvm(node: Upstream, hash: string, signal: AbortSignal): Promise<ChainFields | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const [transaction, receipt] = await Promise.all([
      getTransaction(node, [hash], signal),
      getReceipt(node, [hash], signal),
    ]);
    if (!transaction && !receipt) return undefined;
    if (transaction?.hash.toLowerCase() !== hash) continue;
    if (!transaction.blockHash && !receipt) return toFields(transaction);
    if (!receipt || !isOf(receipt.transactionHash, hash)) continue;
    const isLagging = !transaction.blockHash && attempt > 0;
    if (receipt.blockHash !== transaction.blockHash && !isLagging) continue;
    const block = await getBlock(node, [receipt.blockHash, false], signal);
    if (!block || !isOf(block.hash, receipt.blockHash)) continue;
    if (!receipt.status && Number(block.number) >= BYZANTIUM)
      throw new Problem("upstream-failed", `${node.title} does not say how this transaction ended`);
    return toFields(transaction, { receipt, block });
  }
  throw new Problem("upstream-failed", `${node.title} does not agree with itself about this transaction's block`, {
    retryAfter: 2,
  });
}

const ATTEMPTS = 2;
/** Ethereum's first block whose receipts have a status (EIP-658). */
const BYZANTIUM = 4_370_000;

/** Whether what was answered is what was asked for. Not every source repeats the hash. */
const isOf = (answered: string | undefined, asked: string): boolean =>
  answered === undefined || answered.toLowerCase() === asked.toLowerCase();

interface Transaction {
  readonly hash: string;
  readonly blockHash?: string | null;
  readonly from: Hex;
  readonly to?: Hex | null;
  readonly value: Hex;
  readonly input: Hex;
}

interface Receipt {
  readonly transactionHash?: string;
  readonly blockHash: string;
  readonly gasUsed: Hex;
  readonly status?: Hex | null;
}

interface Block {
  readonly hash?: string;
  readonly number: Hex;
  readonly timestamp: Hex;
}

const hex = (digits: string): object => ({ type: "string", pattern: `^0x[0-9a-fA-F]${digits}$` });
const orNull = (schema: object): object => ({ ...schema, type: ["string", "null"] });
/** At most 52 bits: a safe integer. */
const COUNT = hex("{1,13}");

const getTransaction = createRead<Transaction>("eth_getTransactionByHash", {
  type: "object",
  properties: {
    hash: hex("{64}"),
    blockHash: orNull(hex("{64}")),
    from: hex("{40}"),
    to: orNull(hex("{40}")),
    value: hex("{1,64}"),
    input: hex("*"),
  },
  required: ["hash", "from", "value", "input"],
});

const getReceipt = createRead<Receipt>("eth_getTransactionReceipt", {
  type: "object",
  properties: {
    transactionHash: hex("{64}"),
    blockHash: hex("{64}"),
    gasUsed: COUNT,
    status: { enum: ["0x0", "0x1", null] },
  },
  required: ["blockHash", "gasUsed"],
});

const getBlock = createRead<Block>("eth_getBlockByHash", {
  type: "object",
  properties: { hash: hex("{64}"), number: COUNT, timestamp: COUNT },
  required: ["number", "timestamp"],
});

async function toFields(
  { from, to, value, input }: Transaction,
  mined?: { readonly receipt: Receipt; readonly block: Block },
): Promise<ChainFields> {
  const { formatEther, getAddress } = await import("viem/utils");
  return {
    block_number: toNumber(mined?.block.number),
    timestamp: toNumber(mined?.block.timestamp),
    from_address: getAddress(from),
    to_address: to ? getAddress(to) : null,
    value_wei: String(BigInt(value)),
    value_eth: formatEther(BigInt(value)),
    gas_used: toNumber(mined?.receipt.gasUsed),
    // A receipt from before Byzantium (EIP-658) has a state root instead.
    status: mined ? toNumber(mined.receipt.status) : "pending",
    input_calldata_hex: input,
    native_currency: "ETH",
  };
}

const toNumber = (quantity: Hex | null | undefined): number | null => (quantity ? Number(quantity) : null);
