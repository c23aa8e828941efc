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

const EXPRESS = "@x402/express";
const MCP = "@modelcontextprotocol/server";

export const CASES: readonly Case[] = [
  {
    title: "unpaid → 402 challenge, 18 routes, 2 rails",
    goal: "≥ 0.40 of bare, ≥ 4× peer",
    peer: EXPRESS,
    load: unpaid,
    status: 402,
    payphone: ["memory"],
    rivalServer: "peer",
    rival: [],
  },
  {
    title: "paid call, facilitator stub in the process",
    goal: "≥ 0.25 of bare, ≥ 2× peer",
    peer: EXPRESS,
    load: paid,
    status: 200,
    payphone: ["memory"],
    rivalServer: "peer",
    rival: [],
  },
  {
    title: "the same with a durable reservation (fsync)",
    goal: "≥ 0.15 of bare, ≥ 1.3× peer without one",
    peer: `${EXPRESS}, nothing durable`,
    load: paid,
    status: 200,
    payphone: ["@file"],
    rivalServer: "peer",
    rival: [],
  },
  {
    title: "paid call, facilitator over loopback HTTP",
    goal: "≥ 0.12 of bare, ≥ 5× peer",
    peer: EXPRESS,
    load: paid,
    status: 200,
    payphone: ["memory", "@facilitator"],
    rivalServer: "peer",
    rival: ["@facilitator"],
  },
  {
    title: "`/mcp` tools/call unpaid, 2026-07-28",
    goal: "≥ 3× peer",
    peer: MCP,
    load: unpaidTools("2026-07-28"),
    status: 200,
    payphone: ["memory"],
    rivalServer: "mcp-official",
    rival: [],
  },
  {
    title: "`/mcp` tools/call unpaid, 2025-11-25",
    goal: "≥ 3× peer",
    peer: MCP,
    load: unpaidTools("2025-11-25"),
    status: 200,
    payphone: ["memory"],
    rivalServer: "mcp-official",
    rival: [],
  },
];
