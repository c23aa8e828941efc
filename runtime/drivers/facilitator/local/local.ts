import type { Treasury } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import { withNoun } from "../../../api/text.ts";
import type { SmartWalletsManifest } from "../../../core/set/manifest.ts";
import type { Store } from "../../../core/store.ts";
import { readEip3009 } from "../../../core/x402/eip3009.ts";
import type {
  Facilitator,
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  VerifyResponse,
} from "../../../core/x402/x402.ts";
import type { EvmClient } from "../../evm/client.ts";
import { checkLine, tooDear } from "../../evm/sender/chain.ts";
import type { EvmSender, EvmSubmission } from "../../evm/sender/sender.ts";
import { readSignature } from "../deployment.ts";
import { toOutage } from "../outage.ts";
import {
  judgeSettlement,
  outcomeUnknown,
  toDeclinedRefusal,
  toInvalid,
  tokensWordsIn,
  toRevertRefusal,
} from "./answers.ts";
import { createCoverage } from "./coverage.ts";
import { createDeploymentQuota } from "./deployment-quota.ts";
import { createGasBudget, isLate } from "./gas-budget.ts";
import { type LocalPayment, openScheme } from "./scheme.ts";
import { type Declined, NO_MORE_WALLETS, type Trace } from "./signer.ts";
import { checkToken, type TokenFacts } from "./token.ts";

export interface LocalFacilitatorOptions {
  /** The CAIP-2 name of the client's chain. */
  readonly network: `eip155:${string}`;
  readonly client: EvmClient;
  /** Sends from the treasury's account, which pays the gas. */
  readonly sender: EvmSender;
  readonly treasury: Pick<Treasury, "evmAddress">;
  readonly store: Store;
  /** The tokens that it settles; compared with the chain before `supported` answers. */
  readonly tokens: readonly TokenFacts[];
  /** Wallets that are deployed with their first payment (ERC-6492); none by default. */
  readonly smartWallets?: SmartWalletsManifest | undefined;
  /** How long a settlement waits for its block. */
  readonly confirmationMs?: number;
}

/** The gas of one ordinary settlement, with a margin. */
const SETTLEMENT_GAS = 150_000n;
/** The gas limit of the cheapest settlement. When this gas costs more than the cap of fees, nothing can be settled. */
const LEAST_GAS = 75_000n;

/**
 * Verifies and settles EIP-3009 payments in this process, with the x402 SDK between a watched client and the treasury's
 * sender. An outage that the SDK takes for a refusal is reported as an outage. An authorization is broadcast once: when
 * its transaction reverts, the payment is refused and the lost gas counts against its payer.
 */
export function createLocalFacilitator(options: LocalFacilitatorOptions): Facilitator {
  const { network, client, sender, treasury, store, tokens, smartWallets, confirmationMs = 15_000 } = options;
  const assets = new Map(tokens.map(({ asset, decimals }) => [asset.toLowerCase(), decimals]));
  const budget = createGasBudget(store, network);
  const coverage = createCoverage(store, network);
  const quota = createDeploymentQuota(store, network, smartWallets?.per_day ?? 0);
  const factories = smartWallets?.factories ?? [];
  const scheme = { network, sender, treasury, budget, coverage, quota, assets, factories, confirmationMs };
  let isChecked = false;
  const listeners: (() => void)[] = [];
  /** Whether the last verification failed because the treasury could not pay for gas. */
  let isShort = false;

  /** Undefined when it is not a payment in these tokens on this chain. */
  function narrow(payment: PaymentPayload, offer: PaymentRequirements): LocalPayment | undefined {
    const payload = readEip3009(payment.payload);
    if (!payload || offer.network !== network || !assets.has(offer.asset.toLowerCase())) return undefined;
    const { from: payer, nonce } = payload.authorization;
    return {
      payload,
      offer: { ...offer, network, extra: { ...offer.extra } },
      authorization: `${offer.asset}:${payer}:${nonce}`.toLowerCase(),
    };
  }

  /** Without gas at a price within the cap, payments would be verified, the work done, and nothing settled. */
  async function checkGas(signal: AbortSignal): Promise<void> {
    checkLine(client, sender);
    const address = await treasury.evmAddress();
    const [balance, price] = await client
      .ask((chain) => Promise.all([chain.getBalance({ address }), chain.getGasPrice()]), signal)
      .catch((cause: unknown) => {
        throw toOutage(`${client.name} did not say what the treasury has`, cause);
      });
    if (balance < price * SETTLEMENT_GAS)
      throw new Problem(
        "unavailable",
        `The treasury ${address} has too little of ${client.name}'s coin to pay for gas`,
      );
    if (price * LEAST_GAS > sender.feeCapWei) throw tooDear(client);
  }

  /** The outcome of an authorization that was broadcast before. */
  async function follow(
    submission: EvmSubmission,
    { payload }: LocalPayment,
    signal: AbortSignal,
  ): Promise<SettleResponse> {
    const { from: payer } = payload.authorization;
    const of = { payer, network };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(confirmationMs)]);
    const inclusion = await submission.included(bounded).catch((cause: unknown) => {
      throw outcomeUnknown(of, cause, submission.hash);
    });
    if (inclusion.status === "success") return { success: true, payer, network, transaction: inclusion.hash };
    const code = await client.ask((chain) => chain.getCode({ address: payer }), signal).catch(() => undefined);
    const isContract = (code ?? "0x") !== "0x" || (await readSignature(payload.signature))?.deployment !== undefined;
    await client
      .ask((chain) => isLate(chain, inclusion, payload.authorization.validBefore), signal)
      .then((late) => budget.lose(late ? undefined : { address: payer.toLowerCase(), isContract }, inclusion))
      .catch((cause: unknown) => {
        throw outcomeUnknown(of, cause, submission.hash);
      });
    return toRevertRefusal(of, inclusion);
  }

  return {
    async supported(signal) {
      for (const token of isChecked ? [] : tokens) {
        const mismatch = await checkToken(client, token, signal).catch((cause: unknown) => {
          throw toOutage(cause instanceof Problem ? cause.message : `${client.name} did not answer in time`, cause);
        });
        if (mismatch) throw toOutage(mismatch);
      }
      isChecked = true;
      await checkGas(signal);
      return [{ x402Version: 2, scheme: "exact", network }];
    },

    async verify(payment, offer, signal) {
      const narrowed = narrow(payment, offer);
      if (!narrowed) return { isValid: false, invalidReason: "invalid_payload" };
      const { from: payer } = narrowed.payload.authorization;
      const work = client.ask(async (chain): Promise<VerifyResponse> => {
        checkLine(client, sender);
        const opened = await openScheme(scheme, chain, narrowed, { signal, trace: {} });
        if (isDeclined(opened)) return toInvalid(opened, payer);
        if (opened.terms.fees.maxFeePerGas * LEAST_GAS > sender.feeCapWei) throw tooDear(client);
        const verdict = await opened.verify();
        if (!verdict.isValid || !opened.terms.deployment || (await quota.reserve(payer))) return verdict;
        return toInvalid(NO_MORE_WALLETS, payer);
      }, signal);
      const { invalidMessage, ...verdict } = await work.catch((cause: unknown) => {
        const isKnown = cause instanceof Problem && cause.code === "unavailable";
        if (isKnown && !isShort) for (const listener of listeners) listener();
        isShort = isKnown;
        throw toOutage(isKnown ? cause.message : `The ${client.name} chain cannot be asked about a payment now`, cause);
      });
      isShort = false;
      return { ...verdict, ...(invalidMessage !== undefined && { invalidMessage: tokensWordsIn(invalidMessage) }) };
    },

    async settle(payment, offer, signal) {
      const narrowed = narrow(payment, offer);
      if (!narrowed) return { success: false, errorReason: "invalid_payload", transaction: "", network };
      const of = { payer: narrowed.payload.authorization.from, network };
      const earlier = await sender.find(narrowed.authorization, signal).catch((cause: unknown) => {
        throw outcomeUnknown(of, cause);
      });
      if (earlier) return follow(earlier, narrowed, signal);
      const trace: Trace = {};
      const work = client.ask(async (chain): Promise<SettleResponse> => {
        const opened = await openScheme(scheme, chain, narrowed, { signal, trace });
        return isDeclined(opened) ? toDeclinedRefusal(of, opened) : opened.settle();
      }, signal);
      const answer = await work.catch((cause: unknown) => ({ cause }));
      return judgeSettlement(answer, trace, of);
    },

    watch: (listener) => void listeners.push(listener),

    async warnings() {
      const total = await budget.total();
      if (!total) return [];
      const { transactions, gwei } = total;
      const coins = (gwei / 1e9).toFixed(9);
      return [
        `${client.name}: ${withNoun(transactions, "settlement")} reverted within a day, which cost the treasury ${coins} of the chain's coin`,
      ];
    },
  };
}

const isDeclined = (opened: object): opened is Declined => "reason" in opened;
