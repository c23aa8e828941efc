import { Problem } from "../../../runtime/api/problem.ts";
import type { RailManifest } from "../../../runtime/core/set/manifest.ts";
import type { Rail } from "../../../runtime/core/x402/rails.ts";
import type {
  PaymentPayload,
  PaymentRequirements,
  SettlementState,
  SettleResponse,
  VerifyResponse,
} from "../../../runtime/core/x402/x402.ts";

type Answer<T> = (payment: PaymentPayload, offer: PaymentRequirements) => T | Promise<T>;

/** A rail with a scripted facilitator and chain, which count their calls. */
export interface ScriptedRail extends Rail {
  readonly asked: { supported: number; verify: number; settle: number; find: number; balance: number };
  /** The transfers of the scripted chain, by payment nonce. */
  readonly moved: Map<string, string>;
  script: {
    supported?: () => void;
    /** The `extra` of the kind that the facilitator supports. */
    extra?: Readonly<Record<string, unknown>>;
    verify?: Answer<VerifyResponse>;
    settle?: Answer<SettleResponse>;
    find?: Answer<SettlementState>;
    /** How a payment's own signature proves its payer; default: not at all. */
    provePayer?: Rail["provePayer"];
    balance?: (payer: string, offer: PaymentRequirements, signer?: string) => bigint | Promise<bigint>;
    /** Fails when the chain cannot be read. */
    ping?: () => void;
  };
}

const BASE_USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
export const PAY_TO = "0x2222222222222222222222222222222222222222";
/** USDC on Base, as in `_site.yaml`. */
export const BASE_RAIL: RailManifest = {
  id: "base",
  title: "USDC on Base",
  network: "eip155:8453",
  asset: BASE_USDC,
  symbol: "USDC",
  decimals: 6,
  pay_to: "BASE_PAYMENT_ADDRESS",
  rpc: "BASE_RPC_URL",
  facilitator: "remote",
  domain: { name: "USD Coin", version: "2" },
  currency: "usd",
  explorer: "https://basescan.org/tx/{tx}",
};

/** The balance of every payer, unless a test sets another one. */
const RICH = 10n ** 30n;

/** The identity of a payment: its nonce; on Solana, the whole transaction. */
export const nonceOf = ({ payload }: Pick<PaymentPayload, "payload">): string =>
  (payload.authorization as { nonce: string } | undefined)?.nonce ?? (payload.transaction as string);

/** Moves the money of a payment on the scripted chain, at most once, as a facilitator does. */
export function move(rail: ScriptedRail, payment: PaymentPayload, offer: PaymentRequirements): SettleResponse {
  const nonce = nonceOf(payment);
  const network = offer.network;
  if (rail.moved.has(nonce))
    return { success: false, errorReason: "invalid_exact_evm_nonce_already_used", transaction: "", network };
  const transaction = `0x${String(rail.moved.size + 1).padStart(64, "0")}`;
  rail.moved.set(nonce, transaction);
  return { success: true, transaction, network, payer: payerOf(payment) };
}

type Settle = (payment: unknown, offer: Pick<PaymentRequirements, "network">) => SettleResponse;

/** Refuses to settle, and moves nothing. */
export const refuses =
  (errorReason = "insufficient_funds", more: Partial<SettleResponse> = {}): Settle =>
  (_payment, { network }) => ({ success: false, errorReason, transaction: "", network, ...more });

/** Says that it has settled, and moves nothing. */
export const claims =
  (transaction: string): Settle =>
  (_payment, { network }) => ({ success: true, transaction, network });

/** Cannot be reached. */
export const isAway = (): never => {
  throw new Problem("facilitator-unavailable");
};

const payerOf = ({ payload }: PaymentPayload): string =>
  (payload.authorization as { from: string } | undefined)?.from ?? "the payer";

/** Creates a rail; USDC on Base by default. Without a script, every payment verifies, settles and can be read back. */
export function createScriptedRail(manifest: Partial<Rail["manifest"]> = {}): ScriptedRail {
  const asked = { supported: 0, verify: 0, settle: 0, find: 0, balance: 0 };
  const moved = new Map<string, string>();
  const rail: ScriptedRail = {
    asked,
    moved,
    script: {},
    payTo: PAY_TO,
    provePayer: async (payload) => rail.script.provePayer?.(payload),
    manifest: { ...BASE_RAIL, ...manifest },
    facilitator: {
      async supported() {
        asked.supported += 1;
        rail.script.supported?.();
        const { extra } = rail.script;
        return [{ x402Version: 2, scheme: "exact", network: rail.manifest.network, ...(extra && { extra }) }];
      },
      async verify(payment, offer) {
        asked.verify += 1;
        return rail.script.verify?.(payment, offer) ?? { isValid: true, payer: payerOf(payment) };
      },
      async settle(payment, offer) {
        asked.settle += 1;
        return rail.script.settle?.(payment, offer) ?? move(rail, payment, offer);
      },
    },
    settlements: {
      async find(payment, offer) {
        asked.find += 1;
        const scripted = rail.script.find?.(payment, offer);
        if (scripted) return scripted;
        const transaction = moved.get(nonceOf(payment));
        return transaction === undefined ? { state: "open" } : { state: "settled", transaction };
      },
      async balance(payer, offer, _signal, signer) {
        asked.balance += 1;
        return rail.script.balance?.(payer, offer, signer) ?? RICH;
      },
      ping: async () => rail.script.ping?.(),
    },
  };
  return rail;
}
