import { type Maker, paid, unpaid } from "./load.ts";

/** One row of the table. The programs are started afresh for each row and loaded in turn, round after round. */
export interface Case {
  readonly title: string;
  readonly goal: string;
  readonly peer: string;
  readonly load: (url: string) => Promise<Maker>;
  readonly status: number;
  /** Arguments of `servers/<name>.ts`; `@facilitator` and `@file` are filled in. */
  readonly payphone: readonly string[];
  readonly rival: readonly string[];
}

const EXPRESS = "@x402/express";

export const CASES: readonly Case[] = [
  {
    title: "unpaid → 402 challenge, 18 routes, 2 rails",
    goal: "≥ 0.40 of bare, ≥ 4× peer",
    peer: EXPRESS,
    load: unpaid,
    status: 402,
    payphone: ["memory"],
    rival: [],
  },
  {
    title: "paid call, facilitator stub in the process",
    goal: "≥ 0.20 of bare, ≥ 3× peer",
    peer: EXPRESS,
    load: paid,
    status: 200,
    payphone: ["memory"],
    rival: [],
  },
  {
    title: "the same with a durable reservation (fsync)",
    goal: "≥ 0.11 of bare, ≥ 2× peer without one",
    peer: `${EXPRESS}, nothing durable`,
    load: paid,
    status: 200,
    payphone: ["@file"],
    rival: [],
  },
  {
    title: "paid call, facilitator over loopback HTTP",
    goal: "≥ 0.09 of bare, ≥ 8× peer",
    peer: EXPRESS,
    load: paid,
    status: 200,
    payphone: ["memory", "@facilitator"],
    rival: ["@facilitator"],
  },
];
