import type { Command } from "commander";
import { toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import { shopOption } from "./directory.ts";

const SERVER_HELP = `
PORT and HOST say where it listens (default: 4021 and 127.0.0.1; PORT=0 takes any free port), PAYPHONE_DATA_DIR where it
keeps its state (default: .payphone in the shop's folder). runtime/docs/operations.md lists all variables.
`;

/** `sandbox` and `serve`. */
export function addServerCommands(program: Command): void {
  program
    .command("sandbox")
    .description("sell the services for play money: chains, facilitator and a funded buyer are embedded, all offline")
    .option("--online", "let services read live sources instead of recordings; the money stays play money")
    .addOption(shopOption())
    .addHelpText("after", SERVER_HELP)
    .action(async ({ dir, online = false }: { dir?: string; online?: boolean }) =>
      (await import("../sandbox/sandbox.ts")).runSandbox({ dir: toShop(dir), online }),
    );
  program
    .command("serve")
    .description("sell the services for real money; lists everything that the environment lacks before it starts")
    .option("--check", "look at nodes, facilitators, treasury, sources and the public address, and sell nothing")
    .option("--json", "with --check: print a JSON list")
    .option("--strict", "start nothing when the folder is faulty, instead of selling the last good set")
    .option("--renamed", "take over the data directory or Redis of this shop's earlier name")
    .addOption(shopOption())
    .addHelpText("after", SERVER_HELP)
    .action(async ({ dir: given, renamed = false, strict = false, check = false, json = false }: ServeFlags) => {
      const dir = toShop(given);
      if (!check) return (await import("../serve/serve.ts")).runServe({ dir, renamed, strict });
      const { runServeCheck } = await import("../live/check.ts");
      process.exitCode = (await runServeCheck(dir, { json })) ? EXIT.ok : EXIT.failed;
    });
}

interface ServeFlags {
  readonly dir?: string;
  readonly renamed?: boolean;
  readonly strict?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
}
