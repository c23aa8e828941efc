import { type Command, InvalidArgumentError, Option } from "commander";
import { Problem } from "../../api/problem.ts";
import { EVM_ADDRESS, SOLANA_ADDRESS, toAccount } from "../../core/account.ts";
import { loadConfig } from "../config/config.ts";
import { openTerminal } from "../terminal.ts";
import { railsOption } from "./directory.ts";

const SALES_HELP = `
A day (2026-05-01) means the whole day, UTC; a time (2026-05-01T12:00:00Z) means that moment, and --to is not included.
The book is read from the server's store (PAYPHONE_DATA_DIR, REDIS_URL), whether the server runs or not. Where there is
none, the sandbox's is shown. What your own wallets pay (the treasury's, and books.own in _site.yaml) is no revenue.

Examples:
  payphone sales
  payphone sales --from 2026-01-01 --to 2026-12-31 --csv > 2026.csv
  payphone sales --group service
  payphone sales --payer 0x… --json
  payphone sales show 0x…                 a transaction, a request id, a job or an id of the list
`;

export interface SalesOptions {
  readonly dir: string;
  readonly sandbox?: boolean;
  readonly from?: number;
  readonly to?: number;
  readonly service?: string;
  readonly rail?: string;
  readonly payer?: string;
  readonly json?: boolean;
  readonly csv?: boolean;
  readonly group?: "day" | "service" | "payer";
}

/** `sales` and `sales show`: what was sold. */
export function addSalesCommands(program: Command): void {
  const sales = program
    .command("sales")
    .description("list sales, refunds and reversals")
    .addOption(fromOption())
    .addOption(toOption())
    .option("--service <id>", "of this service")
    .option("--rail <id>", "paid on this rail")
    .addOption(new Option("--payer <address>", "paid by this wallet").argParser(toWallet))
    .addOption(new Option("--group <by>", "sums instead of lines").choices(["day", "service", "payer"]))
    .addOption(new Option("--json", "one JSON object a line").conflicts("csv"))
    .option("--csv", "for spreadsheets and accountants")
    .addOption(sandboxOption())
    .addOption(railsOption("that were paid on"))
    .addHelpText("after", SALES_HELP)
    .action(async ({ dir, sandbox, json, csv, group, ...filter }: SalesOptions) => {
      checkSpan(filter);
      const { listSales } = await import("../books/sales.ts");
      const format = json ? "json" : csv ? "csv" : "text";
      await listSales(loadConfig(), { dir, sandbox, filter, format, group }, openTerminal());
    });
  sales
    .command("show")
    .description("show the whole life of a sale")
    .argument("<id>", "an id of the list, a transaction, a request id or a job")
    .option("--json", "print JSON")
    .addOption(sandboxOption())
    .addOption(railsOption("that were paid on"))
    .action(async (text: string, _: unknown, command: Command) => {
      const { showSale } = await import("../books/show.ts");
      const { dir, sandbox, json = false } = command.optsWithGlobals<SalesOptions>();
      await showSale(loadConfig(), { dir, sandbox, text, json }, openTerminal());
    });
}

/** @throws InvalidArgumentError for what is no address: that nothing was sold to it would mean nothing. */
function toWallet(text: string): string {
  const address = toAccount(text);
  if (EVM_ADDRESS.test(address) || SOLANA_ADDRESS.test(address)) return address;
  throw new InvalidArgumentError("It must be a whole address: 0x and 40 hex digits, or a Solana address in base58.");
}

/** `--sandbox` of commands that read a book. */
export const sandboxOption = (): Option => new Option("--sandbox", "the sandbox's book: play money");

/** `--from`: Unix milliseconds. */
export const fromOption = (what = "from this day or time on"): Option =>
  new Option("--from <time>", what).argParser(toMoment(0));

/** `--to`: Unix milliseconds, exclusive. */
export const toOption = (): Option =>
  new Option("--to <time>", "until the end of this day, or before this time").argParser(toMoment(DAY_MS));

/** @throws Problem `bad-request` where a span ends before it begins: nothing could be in it. */
export function checkSpan({ from, to }: { readonly from?: number; readonly to?: number }): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw new Problem("bad-request", "--from must be before --to");
}

const DAY_MS = 24 * 60 * 60_000;
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

/** @param moreMs added to a time that is given as a day */
const toMoment =
  (moreMs: number) =>
  (text: string): number => {
    const at = DAY.test(text) || TIME.test(text) ? Date.parse(text) : Number.NaN;
    const day = text.slice(0, "2026-05-01".length);
    // Date.parse takes February 30th for March 2nd. Nothing was sold before 1970.
    const isReal = at >= 0 && new Date(day).toISOString().startsWith(day);
    if (!isReal) throw new InvalidArgumentError("It must be a day (2026-05-01) or a time (2026-05-01T12:00:00Z).");
    return DAY.test(text) ? at + moreMs : at;
  };
