import type { Flag } from "../../../../plugins/wallet/screen/flags.ts";
import type { Payment } from "../../../support/world/payments.ts";
import { toSolanaKey } from "../../../support/world/solana-node.ts";
import { LAZARUS } from "./stage.ts";

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
const [SHOP, BOSS, FRIEND, EXCHANGE, MIXER, THIEF] = ["shop", "boss", "friend", "exchange", "mixer", "thief"].map(
  toAddress,
) as [string, string, string, string, string, string];
const WALLET = toSolanaKey("archetype");

const usdc = (from: string, to: string, amount: number, daysAgo: number): Payment => ({
  from,
  to,
  asset: "USDC",
  amount: String(amount),
  daysAgo,
});
const eth = (from: string, to: string, amount: number, daysAgo: number): Payment => ({
  from,
  to,
  asset: "ETH",
  amount: String(amount),
  daysAgo,
});
const times = (count: number, make: (at: number) => Payment): Payment[] =>
  Array.from({ length: count }, (_, at) => make(at));
const person = (kind: string, at: number): string => toAddress(`${kind} ${at}`);
/** First gas from an exchange, and a first payment: an ordinary address of that age. */
const born = (daysAgo: number): Payment[] => [
  eth(EXCHANGE, SUBJECT, 0.5, daysAgo),
  eth(SUBJECT, SHOP, 0.01, daysAgo - 0.5),
];
/** An exchange's other customers, by whom it is seen to be one. */
const CUSTOMERS = times(60, (at) => usdc(EXCHANGE, person("customer", at), 500, 50 + at));
const business = (senders: number, each: number, recipients: number, pays: number): Payment[] => [
  ...times(senders, (at) => usdc(person("payer", at), SUBJECT, each, 100 + at / 10)),
  ...times(recipients, (at) => usdc(SUBJECT, person("payee", at), pays, 60 + at / 10)),
];

/** Forty and more, in groups. */
export const ARCHETYPES: readonly Archetype[] = [
  // Ordinary life.
  {
    name: "a salary wallet of two years",
    verdict: "low",
    why: "wages in, purchases out",
    payments: [
      ...born(700),
      ...times(12, (at) => usdc(BOSS, SUBJECT, 3000, 30 * at + 3)),
      ...times(12, (at) => usdc(SUBJECT, SHOP, 900, 30 * at + 2)),
    ],
  },
  {
    name: "a fresh salary wallet",
    verdict: "low",
    why: "youth alone is no guilt",
    payments: [...born(10), usdc(BOSS, SUBJECT, 3000, 5)],
  },
  {
    name: "a wallet of two days, funded by an exchange",
    verdict: "low",
    why: "everybody begins like that",
    payments: [...born(2), ...CUSTOMERS],
  },
  { name: "an address that was never used", verdict: "low", why: "there is nothing to hold against it", payments: [] },
  {
    name: "a cold wallet that only receives",
    verdict: "low",
    why: "savings do not move",
    payments: times(5, (at) => eth(EXCHANGE, SUBJECT, 10, 900 - at)),
  },
  {
    name: "an old wallet that wakes up",
    verdict: "low",
    why: "a long pause is no signal",
    payments: [...born(1200), usdc(SUBJECT, SHOP, 10, 1), usdc(BOSS, SUBJECT, 5000, 2)],
  },
  {
    name: "a trader at pools",
    verdict: "low",
    why: "swaps with contracts are business",
    payments: [
      ...born(400),
      ...times(30, (at) => usdc(SUBJECT, person("pool", at % 3), 1000, 10 + at)),
      ...times(30, (at) => usdc(person("pool", at % 3), SUBJECT, 1010, 9.5 + at)),
    ],
  },
  {
    name: "somebody paid by contracts",
    verdict: "low",
    why: "ETH that contracts send is ordinary",
    payments: [
      ...born(300),
      { from: person("splitter", 0), to: SUBJECT, asset: "ETH", amount: "2", daysAgo: 30, isInternal: true },
    ],
  },
  {
    name: "a salary wallet on Solana",
    verdict: "low",
    why: "wages in, purchases out",
    address: WALLET,
    payments: [
      { from: toSolanaKey("boss"), to: WALLET, asset: "SOL", amount: "5", daysAgo: 400 },
      ...times(
        6,
        (at): Payment => ({
          from: toSolanaKey("boss"),
          to: WALLET,
          asset: "USDC",
          amount: "2000",
          daysAgo: 10 + 30 * at,
        }),
      ),
    ],
  },

  // Businesses.
  {
    name: "an exchange's hot wallet",
    verdict: "low",
    why: "it pays and is paid by all",
    payments: [...born(900), ...business(520, 300, 520, 290)],
  },
  {
    name: "an exchange with one sanctioned depositor among many",
    verdict: "low",
    why: "a small part of its business, which nobody can refuse",
    payments: [...born(900), ...business(160, 5000, 160, 4900), usdc(LAZARUS, SUBJECT, 200, 70)],
  },
  {
    name: "a merchant",
    verdict: "low",
    why: "customers pay, suppliers are paid",
    payments: [...born(500), ...business(120, 60, 3, 2300)],
  },
  {
    name: "a merchant with one sanctioned customer",
    verdict: "low",
    why: "one purchase among many",
    payments: [...born(500), ...business(150, 1000, 3, 100), usdc(LAZARUS, SUBJECT, 80, 33)],
  },
  {
    name: "a payroll",
    verdict: "low",
    why: "it pays many, from one source",
    payments: [
      ...born(500),
      usdc(BOSS, SUBJECT, 400_000, 50),
      ...times(120, (at) => usdc(SUBJECT, person("worker", at), 3000, 20 + at / 100)),
    ],
  },
  {
    name: "an airdrop's distributor",
    verdict: "low",
    why: "many recipients, little to each",
    payments: [
      ...born(100),
      usdc(BOSS, SUBJECT, 900, 50),
      ...times(510, (at) => usdc(SUBJECT, person("winner", at), 1, 20 + at / 100)),
    ],
  },
  {
    name: "a treasury of an organization",
    verdict: "low",
    why: "large sums to few",
    payments: [
      ...born(800),
      ...times(4, (at) => usdc(BOSS, SUBJECT, 250_000, 100 + at)),
      ...times(20, (at) => usdc(SUBJECT, person("worker", at), 20_000, 30 + at)),
    ],
  },
  {
    name: "a faucet",
    verdict: "low",
    why: "a little gas for many",
    payments: [
      eth(BOSS, SUBJECT, 10, 300),
      ...times(110, (at) => eth(SUBJECT, person("newcomer", at), 0.001, 20 + at)),
    ],
  },

  // Sanctions.
  {
    name: "a sanctioned address",
    verdict: "critical",
    why: "OFAC lists it",
    address: LAZARUS,
    payments: [eth(FRIEND, LAZARUS, 1, 300)],
  },
  {
    name: "the victim of dust from a sanctioned address",
    verdict: "low",
    why: "nobody can refuse dust",
    payments: [...born(500), usdc(LAZARUS, SUBJECT, 0.01, 30)],
  },
  {
    name: "the victim of a hundred pieces of dust",
    verdict: "low",
    why: "repetition makes it no business",
    payments: [...born(500), ...times(60, (at) => usdc(LAZARUS, SUBJECT, 0.05, 30 + at))],
  },
  {
    name: "somebody who sends dust back",
    verdict: "high",
    why: "it has dealt with a sanctioned address of its own will",
    payments: [...born(500), usdc(LAZARUS, SUBJECT, 0.5, 30), usdc(SUBJECT, LAZARUS, 0.5, 29)],
  },
  {
    name: "somebody who paid a sanctioned address 5 dollars",
    verdict: "high",
    why: "no sum is small enough",
    payments: [
      ...born(500),
      usdc(BOSS, SUBJECT, 9000, 40),
      usdc(SUBJECT, SHOP, 4000, 30),
      usdc(SUBJECT, LAZARUS, 5, 20),
    ],
  },
  {
    name: "65 payments of 500 USDC from a sanctioned address",
    verdict: "high",
    why: "a relation of 32 500 dollars",
    payments: [...born(500), ...times(65, (at) => usdc(LAZARUS, SUBJECT, 500, 10 + at))],
  },
  {
    name: "65 payments of 500 USDC to a sanctioned address",
    verdict: "high",
    why: "a relation of 32 500 dollars",
    payments: [
      ...born(500),
      usdc(BOSS, SUBJECT, 40_000, 90),
      ...times(65, (at) => usdc(SUBJECT, LAZARUS, 500, 10 + at)),
    ],
  },
  {
    name: "30 small payments from a sanctioned address",
    verdict: "high",
    why: "split, it is still a relation",
    payments: [
      ...born(500),
      usdc(BOSS, SUBJECT, 90_000, 90),
      ...times(30, (at) => usdc(LAZARUS, SUBJECT, 90, 10 + at)),
    ],
  },
  {
    name: "20 000 USDC from a sanctioned address, once",
    verdict: "high",
    why: "nobody sends that by mistake",
    payments: [...born(500), usdc(BOSS, SUBJECT, 900_000, 90), usdc(LAZARUS, SUBJECT, 20_000, 10)],
  },
  {
    name: "150 USDC from a sanctioned address, once",
    verdict: "medium",
    why: "to be explained",
    payments: [...born(500), usdc(BOSS, SUBJECT, 100_000, 90), usdc(LAZARUS, SUBJECT, 150, 10)],
  },
  {
    name: "20 USDC from a sanctioned address, once",
    verdict: "medium",
    why: "more than dust, to be explained",
    payments: [...born(500), usdc(BOSS, SUBJECT, 100_000, 90), usdc(LAZARUS, SUBJECT, 20, 10)],
  },
  {
    name: "somebody paid by a launderer",
    verdict: "medium",
    why: "20 000 dollars came by way of one address",
    payments: [...born(500), usdc(LAZARUS, FRIEND, 50_000, 40), usdc(FRIEND, SUBJECT, 20_000, 39)],
  },
  {
    name: "a customer of the exchange that a sanctioned address used",
    verdict: "low",
    why: "an exchange links nobody",
    payments: [...born(500), ...CUSTOMERS, usdc(LAZARUS, EXCHANGE, 90_000, 60), usdc(EXCHANGE, SUBJECT, 5000, 30)],
  },
  {
    name: "a customer of a shop where a sanctioned address bought",
    verdict: "low",
    why: "the money met, and did not flow on",
    payments: [...born(500), usdc(LAZARUS, SHOP, 300, 60), usdc(SUBJECT, SHOP, 250, 30)],
  },

  // Mixers.
  {
    name: "somebody who lives on a mixer's money",
    verdict: "high",
    why: "nobody can tell where it comes from",
    payments: [eth(MIXER, SUBJECT, 10, 200), eth(SUBJECT, SHOP, 9, 190)],
    flags: { [MIXER]: ["mixer"] },
  },
  {
    name: "somebody who paid a mixer now and then",
    verdict: "medium",
    why: "to be explained",
    payments: [...born(500), eth(BOSS, SUBJECT, 20, 300), eth(SUBJECT, SHOP, 8, 200), eth(SUBJECT, MIXER, 1, 100)],
    flags: { [MIXER]: ["mixer"] },
  },
  {
    name: "a rich address that a mixer dusted with 0.1 ETH",
    verdict: "low",
    why: "a prank that nobody can refuse",
    payments: [...born(900), eth(BOSS, SUBJECT, 50, 300), eth(MIXER, SUBJECT, 0.1, 100)],
    flags: { [MIXER]: ["mixer"] },
  },

  // Crime.
  {
    name: "a phisher",
    verdict: "high",
    why: "GoPlus knows it",
    payments: [...born(60), usdc(FRIEND, SUBJECT, 900, 30)],
    flags: { [SUBJECT]: ["phishing_activities", "stealing_attack"] },
  },
  {
    name: "a suspect",
    verdict: "medium",
    why: "GoPlus doubts it",
    payments: born(400),
    flags: { [SUBJECT]: ["blacklist_doubt"] },
  },
  {
    name: "the victim of a phisher",
    verdict: "low",
    why: "who pays a thief is no thief",
    payments: [...born(500), usdc(BOSS, SUBJECT, 90_000, 90), usdc(SUBJECT, THIEF, 5000, 10)],
    flags: { [THIEF]: ["phishing_activities"] },
  },
  {
    name: "a receiver of stolen money",
    verdict: "medium",
    why: "most of its money is a thief's",
    payments: [...born(500), usdc(THIEF, SUBJECT, 50_000, 30)],
    flags: { [THIEF]: ["stealing_attack"] },
  },
  {
    name: "a thief's new address for cashing out",
    verdict: "high",
    why: "young, a thief's money, gone at once",
    payments: [...born(6), usdc(THIEF, SUBJECT, 50_000, 4), usdc(SUBJECT, EXCHANGE, 50_000, 3)],
    flags: { [THIEF]: ["stealing_attack"] },
  },
  {
    name: "a money mule",
    verdict: "medium",
    why: "young, and all money gone at once",
    payments: [
      ...born(5),
      ...times(4, (at) => usdc(person("stranger", at), SUBJECT, 5000, 3)),
      usdc(SUBJECT, EXCHANGE, 19_900, 2),
    ],
  },
  {
    name: "the victim of address poisoning",
    verdict: "low",
    why: "fake tokens and dust are nobody's deed",
    payments: [...born(500), ...times(8, (at) => usdc(person("poison", at), SUBJECT, 0.0001, 10 + at))],
    flags: Object.fromEntries(Array.from({ length: 8 }, (_, at) => [person("poison", at), ["fake_token" as const]])),
  },
  {
    name: "a friend of a phisher's victim",
    verdict: "low",
    why: "two hops away, and no money of it",
    payments: [...born(500), usdc(FRIEND, SUBJECT, 300, 40), usdc(FRIEND, THIEF, 900, 30)],
    flags: { [THIEF]: ["phishing_activities"] },
  },
];
