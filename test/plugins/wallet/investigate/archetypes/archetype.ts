import type { Flag } from "../../../../../plugins/wallet/screen/flags.ts";
import type { Payment } from "../../../../support/world/payments.ts";
import { toSolanaKey } from "../../../../support/world/solana-node.ts";

/** An address as there are many, the verdict that it should have, and why. */
export interface Archetype {
  readonly name: string;
  readonly verdict: "low" | "medium" | "high" | "critical";
  readonly why: string;
  readonly payments: readonly Payment[];
  readonly flags?: Readonly<Record<string, readonly Flag[]>>;
  /** SUBJECT unless set. */
  readonly address?: string;
}

const toAddress = (name: string): string => `0x${Buffer.from(name.padEnd(20, ".").slice(0, 20)).toString("hex")}`;
/** Whom the archetypes are about. */
export const SUBJECT = toAddress("subject");
export const [SHOP, BOSS, FRIEND, EXCHANGE, MIXER, THIEF] = [
  "shop",
  "boss",
  "friend",
  "exchange",
  "mixer",
  "thief",
].map(toAddress) as [string, string, string, string, string, string];
export const WALLET = toSolanaKey("archetype");

export const usdc = (from: string, to: string, amount: number, daysAgo: number): Payment => ({
  from,
  to,
  asset: "USDC",
  amount: String(amount),
  daysAgo,
});
export const eth = (from: string, to: string, amount: number, daysAgo: number): Payment => ({
  from,
  to,
  asset: "ETH",
  amount: String(amount),
  daysAgo,
});
export const times = (count: number, make: (at: number) => Payment): Payment[] =>
  Array.from({ length: count }, (_, at) => make(at));
export const person = (kind: string, at: number): string => toAddress(`${kind} ${at}`);
/** First gas from an exchange, and a first payment: an ordinary address of that age. */
export const born = (daysAgo: number): Payment[] => [
  eth(EXCHANGE, SUBJECT, 0.5, daysAgo),
  eth(SUBJECT, SHOP, 0.01, daysAgo - 0.5),
];
/** An exchange's other customers, by whom it is seen to be one. */
export const CUSTOMERS = times(60, (at) => usdc(EXCHANGE, person("customer", at), 500, 50 + at));
export const business = (senders: number, each: number, recipients: number, pays: number): Payment[] => [
  ...times(senders, (at) => usdc(person("payer", at), SUBJECT, each, 100 + at / 10)),
  ...times(recipients, (at) => usdc(SUBJECT, person("payee", at), pays, 60 + at / 10)),
];
