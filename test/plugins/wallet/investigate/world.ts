import type { Flag } from "../../../../plugins/wallet/screen/flags.ts";
import { type Host, Problem } from "../../../../runtime/api/plugin.ts";
import { type BaseNodeOptions, openBaseNode } from "../../../support/world/base-node.ts";
import { createWorldClock, type WorldClock } from "../../../support/world/clock.ts";
import { type ExplorerOptions, openExplorer } from "../../../support/world/explorer.ts";
import { openGoPlus } from "../../../support/world/goplus.ts";
import type { Manners } from "../../../support/world/manners.ts";
import type { Payment } from "../../../support/world/payments.ts";
import { openSolanaNode, toSolanaKey } from "../../../support/world/solana-node.ts";
import type { WorldSource } from "../../../support/world/source.ts";
import { createHost } from "../../host.ts";
import { DEAD, type Investigated, OFAC_URL, open } from "./stage.ts";

/** What happened in a world, and how its sources behave. */
export interface WorldOptions {
  readonly payments: readonly Payment[];
  readonly flags?: Readonly<Record<string, readonly Flag[]>>;
  /** How often GoPlus answers in part before it answers whole. */
  readonly partialFirst?: number;
  readonly manners?: Partial<Record<"base" | "solana" | "blockscout" | "goplus" | "ethereum", Manners>>;
  readonly base?: Pick<BaseNodeOptions, "window" | "mostLogs" | "states" | "tooWide" | "lagSeconds">;
  readonly explorer?: Pick<ExplorerOptions, "names" | "lagDays">;
  /** How many days back the Solana node has transactions. */
  readonly solanaDays?: number;
  /** Solana wallets that have closed their USDC account. */
  readonly closed?: readonly string[];
  /** Sources that nobody runs. */
  readonly dead?: readonly ("base" | "solana" | "blockscout" | "goplus" | "ethereum")[];
  readonly host?: Partial<Host>;
}

/** A world with the service in it. */
export interface World {
  readonly clock: WorldClock;
  readonly sources: Readonly<Record<"base" | "solana" | "blockscout" | "goplus" | "ethereum", WorldSource>>;
  investigate: Awaited<ReturnType<typeof open>>;
  close(): Promise<void>;
}

/** Opens sources of one world, all on loopback, and the service on them, with the rates of `_site.yaml`. */
export async function openWorld(options: WorldOptions): Promise<World> {
  const { payments, manners = {}, dead = [], flags = {}, partialFirst = 0 } = options;
  const clock = createWorldClock();
  const on = (id: keyof NonNullable<WorldOptions["manners"]>) => ({
    clock,
    ...(manners[id] && { manners: manners[id] }),
  });
  const sources = {
    base: await openBaseNode({ ...on("base"), ...options.base, payments }),
    ethereum: await openBaseNode({ ...on("ethereum"), payments: [] }),
    blockscout: await openExplorer({ ...on("blockscout"), ...options.explorer, payments }),
    goplus: await openGoPlus({ ...on("goplus"), flags, partialFirst }),
    solana: await openSolanaNode({
      ...on("solana"),
      payments,
      ...(options.solanaDays !== undefined && { days: options.solanaDays }),
      closed: options.closed ?? [],
    }),
  };
  const urls = Object.entries(sources).map(([id, { url }]) => [id, dead.some((gone) => gone === id) ? DEAD : url]);
  const host = createHost(
    { clock, llm: NO_MODEL, ...options.host },
    { urls: { ofac: OFAC_URL, ...Object.fromEntries(urls) }, pause: clock.pause },
  );
  return {
    clock,
    sources,
    investigate: await open(host),
    async close() {
      await Promise.all(Object.values(sources).map((source) => source.close()));
    },
  };
}

const NO_MODEL: Host["llm"] = { answer: () => Promise.reject(new Problem("unavailable", "No model is configured")) };

/** Investigates once in a world of its own. */
export async function investigateIn(options: WorldOptions, address: string): Promise<Investigated> {
  const world = await openWorld(options);
  try {
    return await world.investigate(address);
  } finally {
    await world.close();
  }
}

/** A wallet of Solana with 400 days and more transactions than one page of a node lists. */
export const WALLET = toSolanaKey("wallet");
const [CUSTOMER, FUNDER] = [toSolanaKey("customer"), toSolanaKey("funder")];
export const ON_SOLANA: readonly Payment[] = [
  { from: FUNDER, to: WALLET, asset: "SOL", amount: "20", daysAgo: 400 },
  ...Array.from({ length: 150 }, (_, at): Payment => {
    return { from: CUSTOMER, to: WALLET, asset: "USDC", amount: "10", daysAgo: 150 - at };
  }),
];
