import { createHash } from "node:crypto";
import { base58 } from "@scure/base";
import { PublicKey } from "@solana/web3.js";
import { NodeRpcError } from "../../../runtime/sandbox/json-rpc.ts";
import { type Mined, mine, type Payment, toBalance } from "./payments.ts";
import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

/** The data of a Solana node. */
export interface SolanaNodeOptions extends Omit<WorldSourceOptions, "answer"> {
  readonly payments: readonly Payment[];
  /** For how many days the node keeps transactions; default: for ever. It does not list older signatures. */
  readonly days?: number;
  /** Wallets that have closed their USDC account. */
  readonly closed?: readonly string[];
}

const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
const FEE = 5000n;
const START = 1_000_000_000_000n;

/** A key without an owner, derived from a text. */
export const toSolanaKey = (text: string): string => base58.encode(createHash("sha256").update(text).digest());

/** A Solana node over HTTP. Each wallet has one USDC account; no names are registered. */
export async function openSolanaNode({
  payments,
  days,
  closed = [],
  ...rest
}: SolanaNodeOptions): Promise<WorldSource> {
  const all = mine(payments, rest.clock.now());
  const mined = all.filter(({ daysAgo }) => daysAgo <= (days ?? daysAgo));
  const isPruned = days !== undefined;
  const methods: Readonly<Record<string, (params: never) => unknown>> = {
    getHealth: () => "ok",
    getFirstAvailableBlock: () => (isPruned ? (mined[0]?.block ?? 1) : 0),
    getBalance: ([wallet]: [string]) => ({ context: { slot: 1 }, value: Number(toBalance(all, wallet, "SOL")) }),
    getTokenAccountsByOwner: ([wallet, { mint }]: [string, { mint: string }]) => ({
      value: mint === USDC && !closed.includes(wallet) ? toAccounts(all, wallet) : [],
    }),
    getAccountInfo: () => ({ context: { slot: 1 }, value: null }),
    getMultipleAccounts: ([keys]: [string[]]) => ({
      context: { slot: 1 },
      value: keys.map((key) => toTokenState(all, key)),
    }),
    getProgramAccounts: () => [],
    getSignaturesForAddress: ([key, options]: [string, Paging]) => listSignatures(mined, key, options),
    getTransaction: ([signature]: [string]) => toTransaction(mined.find((each) => toSignature(each) === signature)),
  };
  return openWorldSource({
    ...rest,
    answer({ name, params }) {
      const method = methods[name];
      if (!method) throw new NodeRpcError(-32601, "Method not found");
      return method(params as never);
    },
  });
}

/** The wallet's USDC account, derived as wallets do. */
export const toTokenAccount = (wallet: string): string =>
  PublicKey.findProgramAddressSync(
    [wallet, TOKEN_PROGRAM, USDC].map((key) => new PublicKey(key).toBuffer()),
    new PublicKey(ASSOCIATED_TOKEN_PROGRAM),
  )[0].toBase58();

function toAccounts(mined: readonly Mined[], wallet: string): object[] {
  if (!mined.some(({ from, to, asset }) => asset === "USDC" && [from, to].includes(wallet))) return [];
  const data = toTokenData(wallet);
  data.writeBigUInt64LE(toBalance(mined, wallet, "USDC"), 64);
  return [{ pubkey: toTokenAccount(wallet), account: { data: [data.toString("base64"), "base64"] } }];
}

/** The data of a token account: mint and owner, and a balance of 0. */
export const toTokenData = (owner: string, mint = USDC): Buffer =>
  Buffer.concat([base58.decode(mint), base58.decode(owner), Buffer.alloc(101)]);

/** The state of a wallet's USDC account; null for any other key, since no names are registered. */
function toTokenState(mined: readonly Mined[], key: string): object | null {
  const wallets = new Set(mined.filter(({ asset }) => asset === "USDC").flatMap(({ from, to }) => [from, to]));
  const owner = [...wallets].find((wallet) => toTokenAccount(wallet) === key);
  if (owner === undefined) return null;
  return { owner: TOKEN_PROGRAM, data: [toTokenData(owner).toString("base64"), "base64"] };
}

/** The accounts that a payment's transaction names. USDC moves between token accounts, signed by the sender. */
const toKeys = ({ from, to, asset }: Mined): string[] =>
  asset === "USDC" ? [from, toTokenAccount(from), toTokenAccount(to)] : [from, to];

const toSignature = ({ digest }: Mined): string => base58.encode(Buffer.from(digest + digest, "hex"));

interface Paging {
  readonly limit?: number;
  readonly before?: string;
}

function listSignatures(mined: readonly Mined[], key: string, { limit = 1000, before }: Paging) {
  const own = mined.filter((each) => toKeys(each).includes(key)).toReversed();
  const start = before === undefined ? 0 : own.findIndex((each) => toSignature(each) === before) + 1;
  return own.slice(start, start + limit).map((each) => ({
    signature: toSignature(each),
    slot: each.block,
    blockTime: each.at,
    err: null,
    memo: null,
    confirmationStatus: "finalized",
  }));
}

function toTransaction(mined: Mined | undefined) {
  if (!mined) return null;
  const keys = toKeys(mined);
  const [sender = 0n, recipient = 0n] = mined.asset === "SOL" ? [-mined.units, mined.units] : [];
  const changes = [sender - FEE, ...keys.slice(1).map((_, at) => (at === 0 ? recipient : 0n))];
  return {
    slot: mined.block,
    blockTime: mined.at,
    version: 0,
    transaction: { signatures: [toSignature(mined)], message: { accountKeys: keys } },
    meta: {
      err: null,
      fee: Number(FEE),
      preBalances: keys.map(() => Number(START)),
      postBalances: changes.map((change) => Number(START + change)),
      ...toTokenBalances(mined),
      loadedAddresses: { writable: [], readonly: [] },
    },
  };
}

function toTokenBalances({ asset, from, to, units }: Mined) {
  if (asset !== "USDC") return { preTokenBalances: [], postTokenBalances: [] };
  const toBalanceOf = (owner: string, amount: bigint) => ({
    accountIndex: 1,
    mint: USDC,
    owner,
    uiTokenAmount: { amount: String(amount), decimals: 6 },
  });
  return {
    preTokenBalances: [toBalanceOf(from, units), toBalanceOf(to, 0n)],
    postTokenBalances: [toBalanceOf(from, 0n), toBalanceOf(to, units)],
  };
}
