import { type Maker, paid, unpaid } from "./load.ts";
import { unpaidTools } from "./mcp-load.ts";

/** One row of the table. The programs are started afresh for each row and loaded in turn, round after round. */
export interface Case {
  readonly title: string;
  readonly goal: string;
  readonly peer: string;
  readonly load: (url: string) => Promise<Maker>;
  /** Which every answer must have, but the bare server's. */
  readonly status: number;
  /** Programs in `servers/`, and their arguments; `@facilitator` and `@file` are filled in. */
  readonly payphone: readonly string[];
  readonly rivalServer: string;
  readonly rival: readonly string[];
}

/** A paid call in one process, beside the stock middleware. */
const PAID = {
  peer: "@x402/express",
  load: paid,
  status: 200,
  payphone: ["memory"],
  rivalServer: "peer",
  rival: [],
} as const;
/** An unpaid call of a tool, beside the official SDK. */
const TOOL = { ...PAID, goal: "≥ 3× peer", peer: "@modelcontextprotocol/server", rivalServer: "mcp-official" } as const;

export const CASES: readonly Case[] = [
  {
    ...PAID,
    title: "unpaid → 402 challenge, 18 routes, 2 rails",
    goal: "≥ 0.40 of bare, ≥ 4× peer",
    load: unpaid,
    status: 402,
  },
  { ...PAID, title: "paid call, facilitator stub in the process", goal: "≥ 0.25 of bare, ≥ 2× peer" },
  {
    ...PAID,
    title: "the same with a durable reservation (fsync)",
    goal: "≥ 0.15 of bare, ≥ 1.3× peer without one",
    peer: `${PAID.peer}, nothing durable`,
    payphone: ["@file"],
  },
  {
    ...PAID,
    title: "paid call, facilitator over loopback HTTP",
    goal: "≥ 0.12 of bare, ≥ 5× peer",
    payphone: ["memory", "@facilitator"],
    rival: ["@facilitator"],
  },
  { ...TOOL, title: "`/mcp` tools/call unpaid, 2026-07-28", load: unpaidTools("2026-07-28") },
  { ...TOOL, title: "`/mcp` tools/call unpaid, 2025-11-25", load: unpaidTools("2025-11-25") },
];
