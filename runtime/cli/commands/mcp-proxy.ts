import type { Command } from "commander";
import { loadConfig } from "../config/config.ts";
import { openTerminal } from "../terminal.ts";
import { toPrice, toWebUrl } from "./arguments.ts";
import { railsOption } from "./directory.ts";

const HELP = `
An MCP client starts this command and speaks with it over standard input and output. Tools, arguments and results are the
seller's own; where a tool asks for payment (x402), the proxy pays and the client sees only the result.

Wallet: as for "payphone call". Only offers in dollars are paid. A signed payment counts for the day whether or not it was
taken. All proxies of one user share the day's budget; it is noted in $XDG_STATE_HOME/payphone/spending, or in
~/.local/state/payphone/spending.

Examples:
  payphone mcp-proxy https://pay.example.com/mcp
  payphone mcp-proxy https://pay.example.com/mcp --max-usd-per-call 0.05 --max-usd-per-day 2
`;

interface Flags {
  readonly dir: string;
  readonly maxUsdPerCall: string;
  readonly maxUsdPerDay: string;
  readonly spending?: string;
  readonly sandbox: boolean;
}

/** `mcp-proxy`: pays for the tool calls of any MCP client. */
export function addMcpProxyCommand(program: Command): void {
  program
    .command("mcp-proxy")
    .description("an MCP server over standard input and output that pays for another one's tools, within a budget")
    .argument("<url>", "the MCP server that sells, over Streamable HTTP", toWebUrl)
    .option("--max-usd-per-call <amount>", "refuse a call that costs more", toPrice, "0.1")
    .option("--max-usd-per-day <amount>", "refuse a call that would exceed this sum in one day (UTC)", toPrice, "1")
    .option("--spending <folder>", "the folder in which each day's payments are noted")
    .option("--no-sandbox", "pay with your own keys, and do not ask whether the seller is a sandbox")
    .addOption(railsOption("that are paid on"))
    .addHelpText("after", HELP)
    .action(async (url: string, { dir, maxUsdPerCall, maxUsdPerDay, spending, sandbox }: Flags) => {
      const [{ runMcpProxy }, { defaultSpendingDir }] = await Promise.all([
        import("../mcp-proxy/proxy.ts"),
        import("../mcp-proxy/budget.ts"),
      ]);
      const limits = { perCall: maxUsdPerCall, perDay: maxUsdPerDay };
      const config = loadConfig();
      const spendingDir = spending ?? defaultSpendingDir(config.env);
      const { stdin, stdout } = process;
      await runMcpProxy(config, { url, limits, spendingDir, dir, sandbox }, { ...openTerminal(), stdin, stdout });
    });
}
