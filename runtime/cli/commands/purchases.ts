import type { Command } from "commander";
import { loadConfig } from "../config/config.ts";
import { openTerminal } from "../terminal.ts";
import { toBaseUrl } from "./arguments.ts";
import { railsOption } from "./directory.ts";

/** `purchases`: what the buyer's keys have bought. */
export function addPurchasesCommand(program: Command): void {
  program
    .command("purchases")
    .description("see what your wallet has bought from a seller, and fetch an answer again; nothing is paid")
    .argument("[id]", "one of them, with its answer")
    .option("--url <base>", "the seller (default: PAYPHONE_URL, or http://127.0.0.1:4021)", toBaseUrl)
    .option(
      "--rail <id>",
      "sign in with the key of this rail: base, solana or polygon (default: every key that is set)",
    )
    .option("--no-sandbox", "sign in with your own keys, and do not ask whether the seller is a sandbox")
    .option("--json", "print the list as JSON")
    .addOption(railsOption("that were paid on"))
    .action(async (id: string | undefined, options: PurchasesFlags) => {
      const { runPurchases } = await import("../purchases/purchases.ts");
      const { url, rail, json = false, dir, sandbox } = options;
      process.exitCode = await runPurchases(loadConfig(), { id, url, rail, json, dir, sandbox }, openTerminal());
    });
}

interface PurchasesFlags {
  readonly url?: string;
  readonly rail?: string;
  readonly json?: boolean;
  readonly dir: string;
  readonly sandbox: boolean;
}
