import type { PendingSettlementStore, x402Facilitator as X402Facilitator } from "@x402/core/facilitator";
import type { PublicClient } from "viem";
import type { Treasury } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { sha256 } from "../../core/digest.ts";
import type { Store } from "../../core/store.ts";
import { readEip3009 } from "../../core/x402/eip3009.ts";
import type { Facilitator, PaymentPayload, PaymentRequirements, SettleResponse } from "../../core/x402/x402.ts";
import type { EvmClient } from "../evm/client.ts";
import type { EvmSender } from "../evm/sender.ts";
import { createLocalSigner, type Trace } from "./local-signer.ts";
import { checkToken, type TokenFacts } from "./local-token.ts";

export interface LocalFacilitatorOptions {
  /** CAIP-2, of the client's chain. */
  readonly network: `eip155:${string}`;
  readonly client: EvmClient;
  /** Sends from the treasury's account, which pays for the gas. */
  readonly sender: EvmSender;
  readonly treasury: Pick<Treasury, "evmAddress">;
  readonly store: Store;
  /** The tokens that it settles in; checked on the chain before it says that it supports anything. */
  readonly tokens: readonly TokenFacts[];
  /** How long a settlement waits for its block. */
  readonly confirmationMs?: number;
}

/** What one settlement uses, with something on top. */
const SETTLEMENT_GAS = 150_000n;

/**
 * Verifies and settles EIP-3009 payments in this process, with the x402 SDK between a watched client and the treasury's
 * sender. What the SDK makes of an outage never becomes a verdict.
 */
export function createLocalFacilitator(options: LocalFacilitatorOptions): Facilitator {
  const { network, client, sender, treasury, store, tokens, confirmationMs = 15_000 } = options;
  const assets = new Set(tokens.map(({ asset }) => asset.toLowerCase()));
  const pendingSettlementStore = toPendingStore(store);
  let isChecked = false;

  /** The SDK's facilitator, around a signer that lives for one call. */
  async function facilitatorOn(chain: PublicClient, signal: AbortSignal, trace: Trace): Promise<X402Facilitator> {
    const { x402Facilitator } = await import("@x402/core/facilitator");
    const { ExactEvmScheme } = await import("@x402/evm/exact/facilitator");
    const address = await treasury.evmAddress();
    const signer = createLocalSigner({ chain, address, sender, assets, confirmationMs, signal, trace });
    return new x402Facilitator().register(network, new ExactEvmScheme(signer, { pendingSettlementStore }));
  }

  /** The payment with nothing in it but its authorization: other members would make the SDK read another scheme. */
  function narrow(payment: PaymentPayload, offer: PaymentRequirements): Narrowed | undefined {
    const payload = readEip3009(payment.payload);
    if (!payload || offer.network !== network || !assets.has(offer.asset.toLowerCase())) return undefined;
    const requirements = { ...offer, network, extra: { ...offer.extra } };
    return {
      payer: payload.authorization.from,
      arguments: [{ x402Version: 2, accepted: requirements, payload: { ...payload } }, requirements],
    };
  }

  /** Without gas, payments would be verified and run for, and then never settle. */
  async function checkGas(signal: AbortSignal): Promise<void> {
    const address = await treasury.evmAddress();
    const [balance, price] = await client
      .ask((chain) => Promise.all([chain.getBalance({ address }), chain.getGasPrice()]), signal)
      .catch((cause: unknown) => {
        throw unavailable(`${client.name} did not say what the treasury has`, cause);
      });
    if (balance < price * SETTLEMENT_GAS)
      throw new Problem(
        "unavailable",
        `The treasury ${address} has too little of ${client.name}'s coin to pay for gas`,
      );
  }

  return {
    async supported(signal) {
      for (const token of isChecked ? [] : tokens) {
        const mismatch = await checkToken(client, token, signal).catch((cause: unknown) => {
          throw unavailable(cause instanceof Problem ? cause.message : `${client.name} did not answer in time`, cause);
        });
        if (mismatch) throw unavailable(mismatch);
      }
      isChecked = true;
      await checkGas(signal);
      return [{ x402Version: 2, scheme: "exact", network }];
    },

    async verify(payment, offer, signal) {
      const narrowed = narrow(payment, offer);
      if (!narrowed) return { isValid: false, invalidReason: "invalid_payload" };
      const work = client.ask(
        async (chain) => (await facilitatorOn(chain, signal, {})).verify(...narrowed.arguments),
        signal,
      );
      const { invalidMessage, ...verdict } = await work.catch((cause: unknown) => {
        throw unavailable(`The ${client.name} chain cannot be asked about a payment now`, cause);
      });
      return { ...verdict, ...(invalidMessage !== undefined && { invalidMessage: toSentence(invalidMessage) }) };
    },

    async settle(payment, offer, signal) {
      const narrowed = narrow(payment, offer);
      if (!narrowed) return { success: false, errorReason: "invalid_payload", transaction: "", network };
      const trace: Trace = {};
      const work = client.ask(
        async (chain) => (await facilitatorOn(chain, signal, trace)).settle(...narrowed.arguments),
        signal,
      );
      const answer = await work.catch((cause: unknown) => ({ cause }));
      return judge(answer, trace, { payer: narrowed.payer, network });
    },
  };
}

const unavailable = (detail: string, cause?: unknown): Problem =>
  new Problem("facilitator-unavailable", detail, { cause, retryAfter: 5 });

interface Narrowed {
  readonly payer: string;
  readonly arguments: Parameters<X402Facilitator["settle"]>;
}

/** The SDK's answer, as far as it can be believed. @throws Problem `settlement-unknown` when the money may have moved. */
function judge(answer: SettleResponse | { readonly cause: unknown }, trace: Trace, of: Of): SettleResponse {
  const transaction = trace.inclusion?.hash ?? trace.submission?.hash;
  if ("cause" in answer) throw unknown(of, answer.cause, transaction);
  if (answer.success) return { ...answer, transaction: transaction ?? answer.transaction };
  if (trace.failure !== undefined) throw unknown(of, trace.failure);
  // Whoever used the authorization before: perhaps an earlier attempt of ours, that the chain will tell about.
  if (trace.inclusion || answer.errorReason === USED) throw unknown(of, answer, transaction);
  const { errorMessage, ...refusal } = answer;
  if (trace.submission) return { ...refusal, errorReason: "settlement_pending", transaction: trace.submission.hash };
  return { ...refusal, ...(errorMessage !== undefined && { errorMessage: toSentence(errorMessage) }) };
}

/** viem's messages go on for many lines about the request; what the token said stands in the first two. */
const toSentence = (message: string): string => message.split("\n", 2).join(" ").trim();

type Of = Pick<SettleResponse, "network"> & { readonly payer: string };

const USED = "invalid_exact_evm_nonce_already_used";

function unknown({ network, payer }: Of, cause: unknown, transaction?: string): Problem {
  const detail = `What became of a payment of ${payer} on ${network} is not known yet`;
  return new Problem("settlement-unknown", transaction ? `${detail}; see transaction ${transaction}` : detail, {
    cause,
  });
}

/** So long, an earlier attempt's transaction is waited for instead of sending another. */
const PENDING_MS = 60 * 60 * 1000;

/** The SDK's memory of what it sent, in our Store, so that it outlives this process. Its keys are signatures. */
function toPendingStore(store: Store): PendingSettlementStore {
  const keyOf = (signature: string): string => `pending-settlement:${sha256(signature)}`;
  return {
    get: (signature) => store.get<string>(keyOf(signature)),
    set: (signature, hash) => store.set(keyOf(signature), hash, PENDING_MS),
    delete: (signature) => store.delete(keyOf(signature)),
  };
}
