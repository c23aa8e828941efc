import { type Command, Option } from "commander";
import { isIdentifier } from "../../core/x402/read-payment.ts";
import { loadConfig } from "../config/config.ts";
import { openTerminal } from "../terminal.ts";
import { toAmounts, toBaseUrl, toIdentifier, toPrice, toSeconds } from "./arguments.ts";
import { railsOption } from "./directory.ts";

const CALL_HELP = `
<service> is an id from the seller's catalogue, a path like /v1/roll, or a URL. One with a query and no input is a GET.
[input] is a JSON object, @file, or - for standard input.

Wallet: BUYER_EVM_KEY and BUYER_SOLANA_KEY, or BUYER_EVM_KEY_FILE and BUYER_SOLANA_KEY_FILE. In a sandbox its own buyer
pays; a real key never signs there. Paying on Solana needs SOLANA_RPC_URL.

Limits: --max-usd is in dollars (USDC at face value; a price in yen counts with the dollar price that the seller states).
--max-jpy is in yen. Other currencies are paid only up to their own --max, like --max eur=5. Nothing is converted. The amount
is printed before it is paid.

The result goes to standard output, everything else to standard error. A payment is signed once and only ever sent again
unchanged, so a call is never paid twice. Each purchase has an identifier: if its answer and its file are lost, repeat the
command with --rail <id> --resume <identifier>. A seller that keeps identifiers finds the purchase by it within a day, and
charges nothing new. A name that the seller does not know on this rail's network buys anew, within the limits. While the
file is there and its payment can be used, it is sent again itself.

Examples:
  payphone call roll '{"low":1,"high":6}'
  payphone call roll --dry-run
  payphone call ledger_report '{"wallet":"0x…"}' --follow
  payphone call /v1/anchor @anchor.json --rail solana --url https://pay.example.com
`;

/** `call`: buys one call. */
export function addCallCommand(program: Command): void {
  program
    .command("call")
    .description("buy one call from a seller, and show what it costs before paying")
    .argument("[service]", "what to call")
    .argument("[input]", "its input")
    .option("--url <base>", "the seller (default: PAYPHONE_URL, or http://127.0.0.1:4021)", toBaseUrl)
    .option(
      "--rail <id>",
      "how to pay: base, solana or polygon (default: the first offer that the wallet has a key for)",
    )
    .option("--max-usd <amount>", "refuse a price above this", toPrice, "1")
    .option("--max-jpy <amount>", "refuse a price in yen above this", toPrice, "200")
    .addOption(
      new Option("--max <currency=amount>", "pay in another currency, up to this amount; repeatable")
        .argParser(toAmounts)
        .default({}, "none"),
    )
    .option("--no-check", "send the input although the seller's schema refuses it")
    .option("--no-sandbox", "pay with your own keys, and do not ask whether the seller is a sandbox")
    .option("--dry-run", "stop at the challenge")
    .option("--json", "print one JSON document with challenge, payment, receipt and result")
    .addOption(
      new Option("--method <method>", "the HTTP method of a URL that is not in the catalogue").choices(["GET", "POST"]),
    )
    .option("--follow", "wait for the end of a job, and print its last status")
    .option(
      "--wait <seconds>",
      "how long to repeat a payment until its result comes, and to follow a job (default: 60, and to its end)",
      toSeconds,
    )
    .option(
      "--resume <what>",
      "ask again for an earlier result: the file of its payment, or with the same service and input, its identifier",
    )
    .option(
      "--id <identifier>",
      "your own name for this purchase: a seller that keeps names does not charge the same name and wallet again",
      toIdentifier,
    )
    .addOption(railsOption("that are paid on"))
    .addHelpText("after", CALL_HELP)
    .action(async (service: string | undefined, input: string | undefined, options: CallFlags, command: Command) => {
      if (!service && !options.resume) command.error("error: name a service, or give --resume <file>");
      if (service && options.resume && !isIdentifier(options.resume))
        command.error("error: with a service, --resume takes the identifier of an earlier payment");
      if (options.id && options.resume) command.error("error: --resume names the purchase already; leave --id out");
      const { runCall } = await import("../call/call.ts");
      const { id, resume: named, maxUsd, maxJpy, max, wait, ...given } = options;
      const resume = service === undefined ? named : undefined;
      const identifier = service === undefined ? undefined : (named ?? id);
      const limits = { ...max, usd: maxUsd, jpy: maxJpy };
      const usual = { dryRun: false, json: false, follow: false };
      const waits = { waitSeconds: wait ?? 60, followSeconds: wait };
      const call = { ...usual, ...given, ...waits, service, input, limits, resume, identifier };
      process.exitCode = await runCall(loadConfig(), call, openTerminal());
    });
}

type CallFlags = { readonly [Key in "url" | "method" | "rail" | "resume" | "id"]?: string } & {
  readonly dir: string;
  readonly check: boolean;
  readonly sandbox: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly follow?: boolean;
  readonly maxUsd: string;
  readonly maxJpy: string;
  readonly max: Readonly<Record<string, string>>;
  readonly wait?: number;
};
