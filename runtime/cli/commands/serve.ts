import cluster from "node:cluster";
import { type Command, InvalidArgumentError, Option } from "commander";
import { Problem } from "../../api/problem.ts";
import { toShop } from "../config/shop.ts";
import { heedEarlySignals } from "../process/early-signals.ts";
import { AS_SOLD } from "../process/messages.ts";
import { startSmall } from "../process/young-generation.ts";
import type { ServeCommand } from "../serve/serve.ts";
import { shopOption } from "./directory.ts";

const SERVER_HELP = `
PORT and HOST say where it listens (default: 4021 and 127.0.0.1; PORT=0 takes any free port), PAYPHONE_DATA_DIR where it
keeps its state (default: .payphone in the shop's folder). runtime/docs/operations.md lists all variables.
`;

const SANDBOX_HELP = `${SERVER_HELP}
An edit of a manifest, a schema or a plugin is checked and applied at once; faults are printed, and what was sold before goes on.
The log is for people on a terminal, and lines of JSON elsewhere (LOG_FORMAT=json or text says which).

Examples:
  payphone sandbox --live coingecko
  LOG_FORMAT=json payphone sandbox --no-watch
`;

/** `sandbox` and `serve`. */
export function addServerCommands(program: Command): void {
  program
    .command("sandbox")
    .description("sell the services for play money: chains, facilitator and a funded buyer are embedded, all offline")
    .option("--online", "let services read live sources instead of recordings; the money stays play money")
    .option("--live <sources>", "ids of the sources that are read live, separated by commas; the others are recorded")
    .option("--no-watch", "apply edits of the folder only at a restart, or with payphone apply")
    .addOption(portOption())
    .addOption(shopOption())
    .addHelpText("after", SANDBOX_HELP)
    .action(async ({ dir, online = false, live = "", watch = true }: SandboxFlags) => {
      const command = { dir: toShop(dir), online, live: live.split(",").filter((id) => id !== ""), watch };
      const early = heedEarlySignals({ keepsHangUp: false });
      await (await import("../sandbox/sandbox.ts")).runSandbox(command, early);
    });
  program
    .command("serve")
    .description("sell the services for real money; lists everything that the environment lacks before it starts")
    .option("--check", "look at nodes, facilitators, treasury, sources and the public address, and sell nothing")
    .option("--json", "with --check: print a JSON list")
    .option(
      "--workers <count>",
      "sell in this many processes that share port and state; auto: one for each processor",
      toCount,
    )
    .option("--strict", "start nothing when the folder is faulty, instead of selling the last good set")
    .option("--renamed", "take over the data directory or Redis of this shop's earlier name")
    .addOption(new Option(AS_SOLD, "sell the set that is sold already, even when the folder differs").hideHelp())
    .addOption(portOption())
    .addOption(shopOption())
    .addHelpText("after", SERVER_HELP)
    .action(async ({ dir: given, check = false, json = false, workers, ...flags }: ServeFlags) => {
      if (json && !check) throw new Problem("bad-request", "--json belongs to serve --check; serve itself sells");
      const dir = toShop(given);
      const { renamed = false, strict = false, asSold = false } = flags;
      if (workers !== undefined && !check && cluster.isPrimary)
        return (await import("../process/workers.ts")).runWorkers(workers);
      const early = check || cluster.isWorker ? undefined : heedEarlySignals({ keepsHangUp: true });
      const serve = async (): Promise<void> =>
        (await import("../serve/serve.ts")).runServe({ dir, renamed, strict, asSold }, early);
      if (!check) return startSmall(serve);
      const { runServeCheck } = await import("../live/check.ts");
      process.exitCode = await runServeCheck(dir, { json });
    });
}

/** No option of payphone's, but of many other servers. */
function portOption(): Option {
  return new Option("--port <number>").hideHelp().argParser((port) => {
    throw new InvalidArgumentError(`The port is in the environment: PORT=${port}`);
  });
}

const MOST_WORKERS = 64;

/** @throws InvalidArgumentError that says what is expected. */
function toCount(text: string): number | "auto" {
  if (text === "auto") return text;
  if (/^[1-9]\d?$/.test(text) && Number(text) <= MOST_WORKERS) return Number(text);
  throw new InvalidArgumentError(`It must be a number from 1 to ${MOST_WORKERS}, or auto.`);
}

interface SandboxFlags {
  readonly dir?: string;
  readonly online?: boolean;
  readonly live?: string;
  readonly watch?: boolean;
}

interface ServeFlags extends Partial<ServeCommand> {
  readonly check?: boolean;
  readonly json?: boolean;
  readonly workers?: number | "auto";
}
