import type { RailManifest } from "../set/manifest.ts";
import type { Facilitator, PaymentRequirements, SettlementReader } from "./x402.ts";

/** A rail that is configured: its manifest, its receiving address and whoever settles on it. */
export interface Rail {
  readonly manifest: RailManifest;
  readonly payTo: string;
  readonly facilitator: Facilitator;
  readonly settlements: SettlementReader;
  /** Left out where only the facilitator can tell who pays. */
  readonly provePayer?: ProvePayer | undefined;
}

/** The rail of an offer; for an offer in a token that has no rail any more, another one of its network. */
export const railOf = (
  rails: readonly Rail[],
  { network, asset }: Pick<PaymentRequirements, "network" | "asset">,
): Rail | undefined => {
  const there = rails.filter(({ manifest }) => manifest.network === network);
  return there.find(({ manifest }) => manifest.asset === asset) ?? there[0];
};

/**
 * Whether a payment was signed by the payer that it names, whatever the payer holds. Said without the facilitator.
 * @param payload as in `Payment`
 * @throws Problem `upstream-failed` when the chain cannot be asked.
 */
export type ProvePayer = (payload: Readonly<Record<string, unknown>>) => Promise<boolean>;

/** Whether a rail can be offered now. */
export type RailStatus =
  | {
      readonly state: "up" /** What the facilitator adds to `extra`, e.g. `feePayer` on Solana. */;
      readonly extra: Readonly<Record<string, unknown>>;
    }
  | { readonly state: "down"; readonly reason: string };

/** A facilitator that is not believed. */
export interface Distrust {
  readonly facilitator: string;
  /** CAIP-2. */
  readonly network: string;
  /** A sentence. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}
