import { isSameToken, type RailToken } from "../rails/tokens.ts";
import type { RailManifest } from "../set/manifest.ts";
import type { Facilitator, SettlementReader } from "./x402.ts";

/** A configured rail: its manifest, its receiving address and its facilitator. */
export interface Rail {
  readonly manifest: RailManifest;
  readonly payTo: string;
  readonly facilitator: Facilitator;
  readonly settlements: SettlementReader;
  /** Omitted where only the facilitator knows the payer. */
  readonly provePayer?: ProvePayer | undefined;
  /** Omitted where the payer can pay with its own money only: on EVM. */
  readonly ownerOf?: OwnerOf | undefined;
  /** No longer offered: only earlier offers can be paid on it. */
  readonly isRetired?: true;
}

export const isOffered = ({ isRetired }: Pick<Rail, "isRetired">): boolean => !isRetired;

/** The networks of all rails, and of the offered ones, by the rail's id, which is their name in x402 version 1. */
export function networksOf(rails: readonly Rail[]): Record<"networks" | "offered", ReadonlyMap<string, string>> {
  const toNamed = ({ manifest: { id, network } }: Rail) => [id, network] as const;
  const offered = new Map(rails.filter(isOffered).map(toNamed));
  return { networks: new Map([...rails.map(toNamed), ...offered]), offered }; // A retired rail may have an offered one's id.
}

/** Those of these networks that a door takes. */
export const takenAt = (
  networks: ReadonlyMap<string, string>,
  door: { readonly networks?: readonly string[] | undefined },
): ReadonlyMap<string, string> =>
  door.networks ? new Map([...networks].filter(([, network]) => door.networks?.includes(network))) : networks;

/** The rail of an offer; when its token has no rail any more, another rail of its network, which knows the chain. */
export const railOf = (rails: readonly Rail[], token: RailToken): Rail | undefined =>
  rails.find(({ manifest }) => isSameToken(manifest, token)) ??
  rails.find(({ manifest }) => manifest.network === token.network);

/** Whether the token of an offer has a rail of its own. */
export const hasRail = (rails: readonly Rail[], token: RailToken): boolean =>
  rails.some(({ manifest }) => isSameToken(manifest, token));

/** Whether a door of these networks settles in a token: where rails of dollars are on a network, in theirs alone. */
export function settlesIn(rails: readonly Rail[], token: RailToken, networks: readonly string[]): boolean {
  const isThere = ({ manifest }: Rail): boolean => manifest.network === token.network && manifest.currency === "usd";
  const dollars = rails.filter(isThere);
  return networks.includes(token.network) && (dollars.length === 0 || hasRail(dollars, token));
}

/**
 * How the payer that a payment names has signed it, for this rail and lately, whatever the payer's balance; undefined
 * when that payer has not. Does not ask the facilitator.
 * @param payload as in `Payment`
 * @throws Problem `upstream-failed` when the chain cannot be asked.
 */
export type ProvePayer = (payload: Readonly<Record<string, unknown>>) => Promise<PayerProof | undefined>;

/**
 * The wallet whose money a payment moves, for which another one may have signed; undefined when that cannot be told.
 * @param payload as in `Payment` @throws Problem `upstream-failed` when the chain cannot be asked.
 */
export type OwnerOf = (payload: Readonly<Record<string, unknown>>) => Promise<string | undefined>;

/** What has signed: the payer's key, or the contract at the payer's address on this network. */
export type PayerProof = "key" | "contract";

/** Whether a rail can be offered now. */
export type RailStatus =
  | {
      readonly state: "up" /** What the facilitator adds to `extra`: `feePayer` on Solana. */;
      readonly extra: Readonly<Record<string, unknown>>;
    }
  | {
      readonly state: "down";
      readonly reason: string;
      /** When it went down: Unix milliseconds. */
      readonly since: number;
    };

export interface Distrust {
  readonly facilitator: string;
  /** CAIP-2. */
  readonly network: string;
  /** A sentence. */
  readonly reason: string;
  /** Unix milliseconds. */
  readonly since: number;
}
