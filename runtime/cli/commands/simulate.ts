import { type Command, InvalidArgumentError } from "commander";
import { loadConfig } from "../config/config.ts";
import { toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import type { SimulateCommand } from "../simulate/simulate.ts";
import { openTerminal } from "../terminal.ts";
import { toOrigin } from "./arguments.ts";
import { shopOption } from "./directory.ts";

const SIMULATE_HELP = `
Start the sandbox first (payphone sandbox, or npm start), and look at its book or its pages meanwhile. Of ten buyers six
pay, one sends each payment again, one leaves before the answer, one looks only, and one has no money. They come over
REST, MCP and A2A in turn.

Examples:
  payphone simulate
  payphone simulate --buyers 50 --minutes 10
`;

type Flags = Omit<SimulateCommand, "dir" | "url"> & { readonly [Key in "dir" | "url"]?: string };

/** `simulate`: buyers for a sandbox. */
export function addSimulateCommand(program: Command): void {
  program
    .command("simulate")
    .description("let simulated buyers trade with a running sandbox, and compare the book with the chains")
    .option("--buyers <count>", "how many wallets", toCount, 20)
    .option("--minutes <minutes>", "for how long", toNumber, 1)
    .option("--pause <seconds>", "between two calls of one buyer, on average", toNumber, 5)
    .option("--url <url>", "where the sandbox runs (default: PAYPHONE_URL)", toOrigin)
    .addOption(shopOption())
    .addHelpText("after", SIMULATE_HELP)
    .action(async ({ dir, url, ...options }: Flags) => {
      const { simulate } = await import("../simulate/simulate.ts");
      const config = loadConfig();
      const command = { ...options, dir: toShop(dir), url: url ?? config.sellerUrl };
      if (!(await simulate(config, command, openTerminal()))) process.exitCode = EXIT.failed;
    });
}

function toCount(text: string): number {
  if (Number.isInteger(toNumber(text))) return toNumber(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

function toNumber(text: string): number {
  const value = /^\d{1,4}(\.\d{1,2})?$/.test(text) ? Number(text) : 0;
  if (value <= 0 || value > 1440) throw new InvalidArgumentError("It must be a number above 0, at most 1440.");
  return value;
}
