import { LAZARUS } from "../stage.ts";
import {
  type Archetype,
  BOSS,
  born,
  CUSTOMERS,
  EXCHANGE,
  eth,
  FRIEND,
  MIXER,
  person,
  SHOP,
  SUBJECT,
  THIEF,
  times,
  usdc,
} from "./archetype.ts";

/** Sanctions, mixers and thieves: who has dealt with them, and who was only met by them. */
export const TAINTED: readonly Archetype[] = [
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
    name: "60 USDC from a sanctioned address, and dust behind it",
    verdict: "medium",
    why: "dust makes no payment smaller",
    payments: [
      ...born(500),
      usdc(BOSS, SUBJECT, 100_000, 90),
      usdc(LAZARUS, SUBJECT, 60, 80),
      ...times(70, (at) => usdc(LAZARUS, SUBJECT, 0.01, 10 + at / 10)),
    ],
  },
  {
    name: "somebody paid by a launderer",
    verdict: "medium",
    why: "20 000 dollars came by way of one address",
    payments: [...born(500), usdc(LAZARUS, FRIEND, 50_000, 40), usdc(FRIEND, SUBJECT, 20_000, 39)],
  },
  {
    name: "somebody paid by a launderer, and dusted by the sanctioned address",
    verdict: "medium",
    why: "dust hides no laundered money",
    payments: [
      ...born(500),
      usdc(LAZARUS, FRIEND, 50_000, 40),
      usdc(FRIEND, SUBJECT, 20_000, 39),
      usdc(LAZARUS, SUBJECT, 0.01, 30),
    ],
  },
  {
    name: "a busy launderer, paid 2 dollars by the sanctioned address as well",
    verdict: "medium",
    why: "a small payment hides no laundered money",
    payments: [
      ...born(500),
      ...times(100, (at) => usdc(person("payer", at), SUBJECT, 1, 100 + at / 10)),
      usdc(LAZARUS, FRIEND, 50_000, 40),
      usdc(FRIEND, SUBJECT, 20_000, 39),
      usdc(LAZARUS, SUBJECT, 2, 30),
    ],
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
    payments: [...born(500), usdc(BOSS, SUBJECT, 250, 90), usdc(LAZARUS, SHOP, 300, 60), usdc(SUBJECT, SHOP, 250, 30)],
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
