import type { Command } from "commander";
import { loadConfig } from "../config/config.ts";
import { EXIT } from "../exit-code.ts";
import { openOutput } from "../terminal.ts";
import { toOrigin } from "./arguments.ts";
import { railsOption } from "./directory.ts";
import { checkSpan, fromOption, type SalesOptions, sandboxOption, toOption } from "./sales.ts";

const VERIFY_HELP = `
Reads the transfers of each rail's token to your receiving addresses, and compares them with the book, transaction by
transaction. "by other means" are transfers that are no x402 payments: they are named, and are no fault. The exit code is
0 when book and chains agree. Without --from, the last day is compared.

Examples:
  payphone books verify
  payphone books verify --from 2026-05-01 --to 2026-05-31 --rail base
`;

type VerifyOptions = Pick<SalesOptions, "dir" | "sandbox" | "from" | "to" | "rail" | "json"> & {
  readonly url?: string;
};

/** `books verify`: whether the book and the chains agree. */
export function addBooksCommands(program: Command): void {
  const books = program.command("books").description("the shop's book of sales");
  books
    .command("verify")
    .description("compare the book with the chains, transaction by transaction")
    .addOption(fromOption())
    .addOption(toOption())
    .option("--rail <id>", "this rail only")
    .option("--json", "one JSON object for each rail")
    .option("--url <url>", "where a sandbox runs (default: PAYPHONE_URL)", toOrigin)
    .addOption(sandboxOption())
    .addOption(railsOption("that are compared"))
    .addHelpText("after", VERIFY_HELP)
    .action(async ({ json = false, url, ...options }: VerifyOptions) => {
      checkSpan(options);
      const { verifyBooks } = await import("../books/verify.ts");
      const config = loadConfig();
      const command = { ...options, json, url: url ?? config.sellerUrl };
      const isClean = await verifyBooks(config, command, openOutput());
      if (!isClean) process.exitCode = EXIT.failed;
    });
}
