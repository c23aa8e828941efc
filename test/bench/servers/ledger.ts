import ledger from "../../../plugins/ledger/index.ts";
import { createHost, serve } from "../../plugins/host.ts";
import { toTime, WALLET } from "../../plugins/ledger/base-node.ts";

/** Asks one summary or report of the node whose URL is given, and prints what that took, as JSON. */
const [id = "", url = ""] = process.argv.slice(2);
const NEWEST = 40_000_000;
const now = toTime(NEWEST) * 1000;

const host = createHost({ clock: { now: () => now } }, { urls: { base: url }, timeoutMs: 20_000 });
const ask = await serve(id, ledger, host);
const from = new Date(toTime(NEWEST - 101 * 43_200) * 1000).toISOString();
const idleBytes = process.memoryUsage().rss;
const began = performance.now();
const answer = await ask({ wallet: WALLET, from });
const ms = performance.now() - began;
const transfers = (answer.totals as { tx_count: number } | undefined)?.tx_count;
const peakBytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`${JSON.stringify({ ms, idleBytes, peakBytes, transfers })}\n`);
process.exit();
