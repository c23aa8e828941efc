import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../api/problem.ts";
import { withNoun } from "../../api/text.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { toAtomic } from "../../core/set/price.ts";
import { parseRoute } from "../../core/set/route.ts";
import { describeSandbox, openChains } from "../books/chains.ts";
import { withBooks } from "../books/place.ts";
import type { Config } from "../config/config.ts";
import { loadSet } from "../set/load.ts";
import type { Terminal } from "../terminal.ts";
import { type Buyer, doorOf, HABITS, trade } from "./buyers.ts";
import type { SoldService } from "./doors.ts";
import { compare } from "./report.ts";
import { fund, fundableRails, makeWallets, toPurse } from "./wallets.ts";

/** The command line of `payphone simulate`. */
export interface SimulateCommand {
  readonly dir: string;
  readonly buyers: number;
  readonly minutes: number;
  /** The URL of the sandbox. */
  readonly url: string;
  /** The average pause between two calls of one buyer, in seconds. */
  readonly pause: number;
}

const TELL_MS = 5000;
/** How long to wait for settlements after the last call. */
const SETTLE_MS = 8000;
const DEAREST_USD = "0.05";

/**
 * Lets buyers trade with a running sandbox over REST, MCP and A2A. The buyers are stock x402 clients with wallets of
 * their own; some have no money, some leave early, some repeat a payment. @returns whether the buyers' counts, the
 * chains and the book agree in the end.
 * @throws Problem `unavailable` when no sandbox runs there, `bad-request` when it sells nothing that can be bought this
 *   way, or its book is not here.
 */
export async function simulate(config: Config, command: SimulateCommand, terminal: Terminal): Promise<boolean> {
  const { dir, buyers: count, minutes, url, pause } = command;
  const [set, sandbox] = await Promise.all([loadSet(dir), describeSandbox(url)]);
  const services = set.manifests.flatMap(toSold);
  const rails = fundableRails(set.site.rails, sandbox);
  if (services.length === 0 || rails.length === 0)
    throw new Problem(
      "bad-request",
      `Nothing in ${dir} costs at most $${DEAREST_USD} a call and is paid on an EVM rail`,
    );
  // Before the trade, which takes minutes.
  await withBooks(config, { dir, sandbox: true }, ({ sandboxDir }) => openChains({ config, sandboxDir, url }));
  const from = Date.now();
  const wallets = await makeWallets(count);
  const buyers = wallets.map((wallet, at): Buyer => {
    const habit = HABITS[at % HABITS.length] as Buyer["habit"];
    return { wallet, habit, door: doorOf(at) };
  });
  const rich = buyers.filter(({ habit }) => habit !== "has no money").map(({ wallet }) => wallet);
  for (const rail of rails) await fund(rich, toPurse(rail, DEAREST_USD, set.site), { rail, sandbox });
  terminal.err(
    `${withNoun(count, "buyer")}, ${withNoun(services.length, "service")}, ${rails.map(({ title }) => title).join(" and ")}`,
  );

  const counts = new Map<string, number>();
  const note = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const signal = AbortSignal.any([terminal.signal, AbortSignal.timeout(minutes * 60_000)]);
  const telling = setInterval(() => terminal.err(toProgress(from, counts)), TELL_MS);
  const deps = { url, services, rails, note, signal, pauseMs: pause * 1000 };
  const bought = await Promise.all(buyers.map(async (buyer) => ({ ...buyer, ...(await trade(buyer, deps)) })));
  clearInterval(telling);
  terminal.err(toProgress(from, counts));
  await sleep(SETTLE_MS);
  const clients = bought.map(({ wallet, ...each }) => ({ ...each, address: wallet.address.toLowerCase() }));
  return compare(config, { dir, url, rails, from, clients }, terminal);
}

/** The services that can be bought by posting their example. Jobs take too long and are skipped. */
function toSold(manifest: Manifest): SoldService[] {
  const { price, route, aliases = [], examples, job } = manifest;
  if (price === undefined || job || toAtomic(price, 18) > toAtomic(DEAREST_USD, 18)) return [];
  const post = [route, ...aliases].map(parseRoute).find(({ method }) => method === "POST");
  const [example] = examples;
  return post && example ? [{ manifest, path: post.path, input: example.input }] : [];
}

function toProgress(from: number, counts: ReadonlyMap<string, number>): string {
  const seconds = Math.round((Date.now() - from) / 1000);
  const parts = [...counts].toSorted(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`);
  return `${seconds} s: ${parts.join(", ") || "nobody has come yet"}`;
}
