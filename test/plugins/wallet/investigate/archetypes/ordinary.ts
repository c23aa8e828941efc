import type { Payment } from "../../../../support/world/payments.ts";
import { toSolanaKey } from "../../../../support/world/solana-node.ts";
import { LAZARUS } from "../stage.ts";
import {
  type Archetype,
  BOSS,
  born,
  business,
  CUSTOMERS,
  EXCHANGE,
  eth,
  person,
  SHOP,
  SUBJECT,
  times,
  usdc,
  WALLET,
} from "./archetype.ts";

/** Ordinary life, and business with many. */
export const ORDINARY: readonly Archetype[] = [
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
];
