import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { OWN, runOwn } from "./both.ts";
import { type PaidCall, request } from "./buyer.ts";
import { createChainMoney } from "./chain-money.ts";
import { startScriptedFacilitator } from "./facilitator.ts";
import { createLedger } from "./money.ts";
import { runBattery, toTable } from "./table.ts";

/**
 * The hostile battery: `npm run battery` attacks payphone and the stock middleware, `npm run battery -- <url>` any seller.
 * runtime/docs/battery.md explains it.
 */
const USAGE = `npm run battery -- <url of a paid route> [url of the battery's facilitator] [options]
  --method <GET|POST>    POST by default
  --body <json>          a valid input of the route, for POST ({} by default)
  --swap-body <json>     another valid input, or --swap-url <url> for GET: for the attack with two inputs
  --other <url>          another paid route of the same price, for the attack with two routes
  --other-body <json>    a valid input of that route (as --body by default)
  --runs <url>           answers how often the work ran: a number, or {"runs": number}
  --network <caip-2>     networks of the imaginary ledger (repeatable)
  --facilitator <url>, --rpc <url>, --key <hex>
                         money of a test chain instead of the imaginary ledger: the facilitator to forward to, the
                         chain's RPC URL, and the private key of a buyer with tokens and gas
  --write                without a url: writes both columns into runtime/docs/battery.md`;

const DEFAULT_FACILITATOR = "http://127.0.0.1:4022";
/** How long the seller may take to start. */
const START_MS = 120_000;
/** The part of the page that `--write` replaces. */
const GENERATED = /(<!-- generated: npm run battery -- --write -->\n).*?(<!-- end -->)/s;
const PAGE = join(import.meta.dirname, "../../runtime/docs/battery.md");

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    method: { type: "string", default: "POST" },
    body: { type: "string" },
    "swap-body": { type: "string" },
    "swap-url": { type: "string" },
    other: { type: "string" },
    "other-body": { type: "string" },
    runs: { type: "string" },
    network: { type: "string", multiple: true },
    facilitator: { type: "string" },
    rpc: { type: "string" },
    key: { type: "string" },
    write: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const [url, stub = DEFAULT_FACILITATOR] = positionals;
if (values.help) console.log(USAGE);
else if (url === undefined) await attackOwn();
else await attackSeller(url);

async function attackOwn(): Promise<void> {
  const table = toTable(await runOwn(OWN, (line) => console.error(line)));
  console.log(table);
  if (values.write) writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(GENERATED, `$1\n${table}\n\n$2`));
}

async function attackSeller(url: string): Promise<void> {
  const { key, rpc, facilitator: upstream } = values;
  const account = key === undefined ? undefined : privateKeyToAccount(key as Hex);
  const isReal = account && rpc && upstream;
  if (!isReal && (account || rpc || upstream)) throw new Error("--facilitator, --rpc and --key belong together");
  const money = isReal
    ? createChainMoney({ facilitator: upstream, rpcUrl: rpc, accountOf: () => account })
    : createLedger(values.network);
  const facilitator = await startScriptedFacilitator(money, Number(new URL(stub).port));
  console.error(
    `The battery's facilitator listens at ${facilitator.url}: start the seller with it as its facilitator.`,
  );
  const call = toCall(url, values.body ?? "{}");
  await whenSelling(call);
  const newAccount = async (): Promise<PrivateKeyAccount> => account ?? privateKeyToAccount(generatePrivateKey());
  const { other, runs, "swap-url": swapUrl = url, "swap-body": swapBody } = values;
  const hasSwap = values["swap-url"] !== undefined || swapBody !== undefined;
  const target = {
    call,
    swapped: hasSwap ? toCall(swapUrl, swapBody ?? "{}") : undefined,
    other: other === undefined ? undefined : toCall(other, values["other-body"] ?? values.body ?? "{}"),
    facilitator,
    money,
    account: newAccount,
    runs: runs === undefined ? undefined : () => readRuns(runs),
  };
  const column = await runBattery(new URL(url).host, target, (line) => console.error(line));
  await facilitator.stop();
  console.log(toTable([column]));
  process.exitCode = column.findings.some(({ verdict }) => verdict === "broken") ? 1 : 0;
}

const toCall = (url: string, body: string): PaidCall =>
  values.method === "GET" ? { method: "GET", url } : { method: "POST", url, body: JSON.parse(body) as unknown };

/** Waits until the seller answers an unpaid call with 402. */
async function whenSelling(call: PaidCall): Promise<void> {
  const end = performance.now() + START_MS;
  for (let status = 0; status !== 402; ) {
    status = await request(call, {}, AbortSignal.timeout(START_MS)).then(
      (response) => response.status,
      () => 0,
    );
    if (performance.now() > end)
      throw new Error(`${call.url} does not ask for payment: it answers ${status || "nothing"}`);
    if (status !== 402) await sleep(500);
  }
}

async function readRuns(place: string): Promise<number> {
  const said: unknown = await (await fetch(place)).json();
  return Number(typeof said === "object" && said !== null && "runs" in said ? said.runs : said);
}
