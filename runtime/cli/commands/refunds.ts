import type { Command } from "commander";
import { loadStorePlace } from "../config/server-store.ts";
import { railsOption } from "./directory.ts";

const REFUNDS_HELP = `
"pending": the treasury pays it back automatically (USDC on Base); the reason says why that is not done yet.
"manual":  you pay the amount back to the payer, and then close the refund with your transaction.

The list is read from the server's store (PAYPHONE_DATA_DIR, REDIS_URL); the server may be running. Where there
is only a sandbox's store, it is the sandbox's.

Examples:
  payphone refunds
  payphone refunds close 3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55 --tx 0x…
`;

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
      const rows = await listRefunds(loadStorePlace(), dir);
      if (json) console.log(JSON.stringify(rows, null, 2));
      else console.log(rows.length > 0 ? toRefundTable(rows) : "no refunds are open");
    });
  refunds
    .command("close")
    .description("note that you have paid a refund by hand, so that it is never paid again")
    .argument("<job_id>", "the job, as the list names it")
    .requiredOption("--tx <transaction>", "the transaction that has paid it")
    .action(async (job: string, { tx: transaction }: { tx: string }) => {
      const { closeRefund } = await import("../refunds/refunds.ts");
      await closeRefund(loadStorePlace(), { job, transaction });
      console.log(`The refund of ${job} is closed: it was paid by ${transaction}`);
    });
}
