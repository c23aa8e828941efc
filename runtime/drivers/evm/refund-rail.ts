import type { Hex, Treasury } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { sha256 } from "../../core/digest.ts";
import type { RefundRail, RefundTransfer } from "../../core/refunds/rail.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import type { Eip3009 } from "../../core/x402/eip3009.ts";
import type { SettlementState } from "../../core/x402/x402.ts";
import type { TreasuryAccounts } from "../treasury.ts";
import type { EvmClient } from "./client.ts";
import type { EvmSender } from "./sender/sender.ts";
import { createEvmSettlements } from "./settlements.ts";
import { plain } from "./token-abi.ts";

export interface EvmRefundRailOptions {
  /** An EVM rail whose token takes EIP-3009 authorizations. */
  readonly manifest: RailManifest;
  readonly client: EvmClient;
  /** Sends from the treasury's account, which pays the gas. */
  readonly sender: EvmSender;
  readonly treasury: Pick<Treasury & TreasuryAccounts, "evmAccount" | "evmAddress">;
}

/** The authorization never expires, since a job has only this one. */
const FOREVER = 2n ** 256n - 1n;
/** The gas of one transfer, with a margin. */
const TRANSFER_GAS = 150_000n;
/** Thirty days of blocks on Base: a refund may have been included long before it is looked up again. */
const WINDOW_BLOCKS = 1_296_000n;

/** Pays refunds from the treasury's own tokens. The nonce of an authorization is derived from the job's id. */
export function createEvmRefundRail({ manifest, client, sender, treasury }: EvmRefundRailOptions): RefundRail {
  const { network, symbol, decimals, domain } = manifest;
  const asset = plain(manifest.asset);
  const settlements = createEvmSettlements({ client, windowBlocks: WINDOW_BLOCKS });
  /** @param reported the transaction that should have it */
  const find = (signed: Eip3009, signal: AbortSignal, reported?: string): Promise<SettlementState> => {
    const { to: payTo, value: amount } = signed.authorization;
    const offer = { scheme: "exact", network, asset, amount, payTo, maxTimeoutSeconds: 0, extra: {} };
    return settlements.find({ x402Version: 2, accepted: offer, payload: { ...signed } }, offer, signal, reported);
  };
  return {
    network,
    asset,
    async check({ to, amount }, signal, signer) {
      const own = await treasury.evmAddress();
      const from = signer ?? own;
      const { balance, coins, gasPrice, isRefused } = await client.ask(
        (chain) => readMeans(chain, asset, { from, to, amount, sender: own }),
        signal,
      );
      const has = (who: string, what: string): Problem => new Problem("unavailable", `${who} has ${what}`);
      const sender = `The treasury ${own} on ${client.name}`;
      const isOwn = from.toLowerCase() === own.toLowerCase();
      const payer = isOwn ? sender : `The former treasury ${from} on ${client.name}, which has signed this refund,`;
      if (balance < BigInt(amount))
        throw has(payer, `${toDecimal(balance, decimals)} ${symbol}, less than ${toDecimal(BigInt(amount), decimals)}`);
      if (coins < gasPrice * TRANSFER_GAS) throw has(sender, "too little of the chain's coin to pay for gas");
      if (isRefused) throw new Problem("unavailable", `The token refuses a transfer from ${from} to ${to}`);
    },

    holds: async ({ signed, transaction }, signal) =>
      signed === undefined || (await find(signed, signal, transaction)).state === "settled",

    async sign(job, { to, amount }) {
      const { authorizationTypes } = await import("@x402/evm");
      const account = await treasury.evmAccount();
      const nonce: Hex = `0x${sha256(`payphone/refund/v1|${job}`)}`;
      const times = { validAfter: 0n, validBefore: FOREVER };
      const signature = await account.signTypedData({
        domain: { ...domain, chainId: client.chainId, verifyingContract: asset },
        types: authorizationTypes,
        primaryType: "TransferWithAuthorization",
        message: { from: account.address, to: plain(to), value: BigInt(amount), ...times, nonce },
      });
      const texts = { value: amount, validAfter: "0", validBefore: String(FOREVER) };
      return { signature, authorization: { from: account.address, to: plain(to), ...texts, nonce } };
    },

    find,

    async send(signed, signal) {
      const { nonce: id } = signed.authorization;
      // A transaction may be waiting for its block, perhaps from a process that has died: a second one could only revert.
      const earlier = await sender.find(id, signal);
      if (earlier && (await earlier.included(signal)).status === "success") return;
      const spentFor = { purpose: "refund" } as const;
      const submission = await sender.submit({ to: asset, data: await toCall(signed), id, spentFor }, signal);
      await submission.included(signal);
    },
  };
}

interface Means {
  /** The paying account's balance in atomic units of the token. */
  readonly balance: bigint;
  /** The sender's native coins, in wei. */
  readonly coins: bigint;
  /** Wei. */
  readonly gasPrice: bigint;
  /** Whether the token would refuse the transfer: it is paused, or has blocked one of the accounts. */
  readonly isRefused: boolean;
}

type Chain = Parameters<Parameters<EvmClient["ask"]>[0]>[0];

async function readMeans(
  chain: Chain,
  address: Hex,
  { from, to, amount, sender }: RefundTransfer & { readonly from: string; readonly sender: Hex },
): Promise<Means> {
  const { erc20Abi } = await import("viem");
  const transfer = { functionName: "transfer", args: [plain(to), BigInt(amount)], account: plain(from) } as const;
  const [balance, coins, gasPrice, isRefused] = await Promise.all([
    chain.readContract({ address, abi: erc20Abi, functionName: "balanceOf", args: [plain(from)] }),
    chain.getBalance({ address: sender }),
    chain.getGasPrice(),
    chain.simulateContract({ address, abi: erc20Abi, ...transfer }).then(
      () => false,
      () => true, // `client.ask` itself rejects when the node gave no answer.
    ),
  ]);
  return { balance, coins, gasPrice, isRefused };
}

async function toCall({ authorization, signature }: Eip3009): Promise<Hex> {
  const { eip3009ABI } = await import("@x402/evm");
  const { encodeFunctionData, parseSignature } = await import("viem");
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { r, s, yParity } = parseSignature(signature);
  const terms = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce] as const;
  return encodeFunctionData({
    abi: eip3009ABI,
    functionName: "transferWithAuthorization",
    args: [...terms, 27 + yParity, r, s],
  });
}
