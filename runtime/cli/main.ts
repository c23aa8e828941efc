import { resolve } from "node:path";
import { Command, CommanderError } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { Problem } from "../api/problem.ts";
import { addBackupCommands } from "./commands/backup.ts";
import { addBooksCommands } from "./commands/books.ts";
import { addCallCommand } from "./commands/call.ts";
import { addCompletionCommand } from "./commands/completion.ts";
import { ROOT } from "./commands/directory.ts";
import { addImportCommands } from "./commands/import.ts";
import { addInitCommand } from "./commands/init.ts";
import { addMcpProxyCommand } from "./commands/mcp-proxy.ts";
import { addOperateCommands } from "./commands/operate.ts";
import { addPeerCommands } from "./commands/peer.ts";
import { addPurchasesCommand } from "./commands/purchases.ts";
import { addRefundCommands } from "./commands/refunds.ts";
import { addRegistryCommands } from "./commands/registry.ts";
import { addSalesCommands } from "./commands/sales.ts";
import { addServerCommands } from "./commands/serve.ts";
import { addSetCommands } from "./commands/set.ts";
import { addSimulateCommand } from "./commands/simulate.ts";
import { addVerifyCommand } from "./commands/verify.ts";
import { addWebhookCommands } from "./commands/webhooks.ts";
import { addExamples } from "./completion/examples.ts";
import { enterShop } from "./config/config.ts";
import { findShop, refuseNoFolder } from "./config/shop.ts";
import { EXIT, exitCodeOf } from "./exit-code.ts";
import { printableLines } from "./printable.ts";

const EXIT_CODES = `
Exit codes:
  ${EXIT.ok}  done
  ${EXIT.failed}  tried, and failed
  ${EXIT.usage}  the command line or the environment is wrong: nothing was tried
  ${EXIT.unpaid}  call: would not pay (limits, wallet, rails); nothing was paid
  ${EXIT.unknown}  call: a payment was sent, and its result is not known yet, see --resume; or a job outlasts --wait
  ${EXIT.input}  call: the input does not fit the service's schema; nothing was paid
  ${EXIT.unchecked}  verify: nothing is wrong, but some signatures cannot be checked, by this version or now, or an offer has none
`;

/** Runs one command, and loads its code only then. Sets the exit code and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = toExitCode(error);
  }
}

/** The command line. Each command loads its code when it is called. */
export function createProgram(): Command {
  const program = new Command("payphone")
    .description(packageJson.description)
    .version(packageJson.version)
    .exitOverride()
    .option("--env-file <file>", "variables that the environment lacks (default: .env in the shop's folder)")
    .hook("preAction", (_, command) => {
      const { dir, envFile } = command.optsWithGlobals<{ dir?: string; envFile?: string }>();
      if (dir !== undefined) refuseNoFolder(dir);
      const shop = dir === undefined || dir === ROOT ? findShop() : resolve(dir);
      enterShop(shop, envFile);
    })
    .addHelpText("after", EXIT_CODES);
  addInitCommand(program);
  addServerCommands(program);
  addOperateCommands(program);
  addSetCommands(program);
  addImportCommands(program);
  addCallCommand(program);
  addPurchasesCommand(program);
  addVerifyCommand(program);
  addMcpProxyCommand(program);
  addPeerCommands(program);
  addSalesCommands(program);
  addBooksCommands(program);
  addSimulateCommand(program);
  addRefundCommands(program);
  addWebhookCommands(program);
  addBackupCommands(program);
  addRegistryCommands(program);
  addCompletionCommand(program);
  addExamples(program);
  return program;
}

/** Prints the error, and the stack only for an unexpected one, which is a bug. */
function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof Problem) {
    const { message } = error;
    console.error(printableLines(message.includes("\n") ? message : `payphone: ${withReason(error)}`));
    return exitCodeOf(error.code);
  }
  const { code, message, name, path, stack, syscall } = error as NodeJS.ErrnoException;
  if (name === "AbortError") console.error("payphone: interrupted");
  else if (path !== undefined || code === "ENOSPC" || code === "EDQUOT")
    console.error(`payphone: ${message}`); // A file or folder that the system refuses, or a full disk.
  else if (syscall === "uv_cwd") console.error("payphone: the current folder was removed: change to another one");
  else if (code === "ERR_MODULE_NOT_FOUND")
    console.error(`payphone: a package is missing: install again, without --omit=optional\n  ${message}`);
  else console.error(stack ?? error);
  return EXIT.failed;
}

/** With the reason for what cannot be reached, such as a damaged store: buyers do not get it, and operators need it. */
function withReason({ message, cause }: Problem): string {
  const reason = cause instanceof Error && message.endsWith("cannot be reached") ? cause.message : "";
  return reason === "" ? message : `${message}: ${reason}`;
}
