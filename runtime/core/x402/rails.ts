import type { RailManifest } from "../set/manifest.ts";
import type { Facilitator, PaymentRequirements, SettlementReader } from "./x402.ts";

/** A configured rail: its manifest, its receiving address and its facilitator. */
export interface Rail {
  readonly manifest: RailManifest;
  readonly payTo: string;
  readonly facilitator: Facilitator;
  readonly settlements: SettlementReader;
  /** Omitted where only the facilitator knows the payer. */
  readonly provePayer?: ProvePayer | undefined;
}

type Token = Pick<PaymentRequirements, "network" | "asset">;

/** The rail of an offer; when its token has no rail any more, another rail of its network, which knows the chain. */
export const railOf = (rails: readonly Rail[], { network, asset }: Token): Rail | undefined =>
  rails.find(isOf({ network, asset })) ?? rails.find(({ manifest }) => manifest.network === network);

/** Whether the token of an offer has a rail of its own. */
export const hasRail = (rails: readonly Rail[], token: Token): boolean => rails.some(isOf(token));

const isOf =
  ({ network, asset }: Token) =>
  ({ manifest }: Rail): boolean =>
    manifest.network === network && isSameAddress(network, manifest.asset, asset);

/** Whether two addresses of a network are the same. The capitals of EVM addresses are only a checksum (EIP-55). */
export const isSameAddress = (network: string, one: string, other: string): boolean =>
  one === other || (network.startsWith("eip155:") && one.toLowerCase() === other.toLowerCase());

/**
 * Whether the payer that a payment names has signed it, whatever the payer's balance. Does not ask the facilitator.
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

/** A facilitator that is distrusted. */
export interface Distrust {
  readonly facilitator: string;
  /** CAIP-2. */
  readonly network: string;
  /** A sentence. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}
