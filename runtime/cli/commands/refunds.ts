import type { Command } from "commander";
import { Problem } from "../../api/problem.ts";
import { loadConfig } from "../config/config.ts";
import { loadStorePlace, type StorePlace } from "../config/server-store.ts";
import { EXIT } from "../exit-code.ts";
import { toPrintableJson } from "../printable.ts";
import { toOrigin } from "./arguments.ts";
import { railsOption } from "./directory.ts";

const REFUNDS_HELP = `
"pending": the treasury pays it back automatically (USDC on Base); the reason says why that is not done yet.
"manual":  you pay the amount back to the payer, and then close the refund with your transaction, which the chain
           must show: the RPC URL of the rail is read from the environment, as serve has it.
--undone:  a reorganisation has undone the payment itself, and its authorization has ended: nobody is owed anything.

The list is read from the server's store (PAYPHONE_DATA_DIR, REDIS_URL); the server may be running. Where there
is only a sandbox's store, it is the sandbox's.

Examples:
  payphone refunds
  payphone refunds close 3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55 --tx 0x…
  payphone refunds close 3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55 --undone
`;

interface CloseOptions {
  readonly tx?: string;
  readonly undone?: boolean;
  readonly unchecked?: boolean;
  readonly dir: string;
  readonly url?: string;
}

/** `refunds` and `refunds close`: lists and closes open refunds. */
export function addRefundCommands(program: Command): void {
  const refunds = program
    .command("refunds")
    .description("list the refunds of failed jobs that are not paid yet")
    .option("--json", "print a JSON list")
    .addOption(railsOption("that were paid on"))
    .addHelpText("after", REFUNDS_HELP)
    .action(async ({ dir, json = false }: { dir: string; json?: boolean }) => {
      const { listRefunds } = await import("../refunds/refunds.ts");
      const { toRefundTable } = await import("../refunds/text.ts");
      const damaged: string[] = [];
      const rows = await listRefunds(loadStorePlace(), dir, (text) => damaged.push(text));
      if (json) console.log(toPrintableJson(rows));
      else if (rows.length > 0) console.log(toRefundTable(rows));
      else if (damaged.length === 0) console.log("no refunds are open");
      for (const text of damaged) console.error(text);
      if (damaged.length > 0) process.exitCode = EXIT.failed;
    });
  refunds
    .command("close")
    .description(
      "note that you have paid a refund by hand, or that its payment was undone, so that it is never paid again",
    )
    .argument("<job_id>", "the job, as the list names it")
    .option("--tx <transaction>", "the transaction that has paid it")
    .option("--undone", "the chain does not hold the payment itself any more, and never will")
    .option("--unchecked", "do not ask the chain whether that is so")
    .option("--url <url>", "where a sandbox runs (default: PAYPHONE_URL)", toOrigin)
    .addOption(railsOption("whose chains are asked"))
    .action(async (job: string, _: unknown, command: Command) => {
      const { tx: transaction = null, undone = false, unchecked, ...options } = command.optsWithGlobals<CloseOptions>();
      if (undone === (transaction !== null)) throw new Problem("bad-request", ONE_OF);
      const { closeRefund } = await import("../refunds/refunds.ts");
      const place = loadStorePlace();
      const checks = unchecked ? {} : await openChecks(place, options);
      await closeRefund(place, { job, transaction, ...checks });
      const how = transaction === null ? "its payment was undone" : `it was paid by ${transaction}`;
      console.log(`The refund of ${job} is closed: ${how}`);
    });
}

const ONE_OF = "Give either --tx <transaction>, which has paid it, or --undone, where the payment itself was undone";

/** The questions to the chains. */
async function openChecks({ dataDir }: StorePlace, { dir, url }: Pick<CloseOptions, "dir" | "url">) {
  const { loadRails } = await import("../call/rails-file.ts");
  const { openChains } = await import("../books/chains.ts");
  const { createCheckPaid } = await import("../refunds/check-paid.ts");
  const { createCheckUndone } = await import("../refunds/check-undone.ts");
  const config = loadConfig();
  const sandboxDir = dataDir === config.dataDir ? undefined : dataDir;
  const rails = await loadRails(dir);
  const open = () => openChains({ config, sandboxDir, url: url ?? config.sellerUrl });
  return { checkPaid: createCheckPaid(rails, open), checkUndone: createCheckUndone(rails, open) };
}
