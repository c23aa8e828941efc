import { join } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { Problem } from "../api/problem.ts";
import { isPrice } from "../core/price.ts";
import type { Voice } from "./call.ts";
import { loadConfig, loadEnv } from "./config.ts";
import { ORIGIN } from "./config-values.ts";
import { EXIT, exitCodeOf } from "./exit-code.ts";

const ROOT = join(import.meta.dirname, "../..");

const EXIT_CODES = `
Exit codes:
  ${EXIT.ok}  done
  ${EXIT.failed}  tried, and failed
  ${EXIT.usage}  the command line or the environment is wrong: nothing was tried
  ${EXIT.unpaid}  call: would not pay (limits, wallet, rails); nothing was paid
  ${EXIT.unknown}  call: a payment was sent, and its result is not known yet; see --resume
`;

const CALL_HELP = `
<service> is an id of the seller's catalogue, a path like /v1/roll, or a URL. [input] is a JSON object, @file, or - for
standard input.

Wallet: BUYER_EVM_KEY and BUYER_SOLANA_KEY, or the files that …_FILE names. A sandbox lends its own buyer instead; a real
key never signs there. SOLANA_RPC_URL is asked when paying from a Solana key.

Limits: --max-usd counts dollars (USDC at face value; for yen the same call's price in dollars, where the seller states
one). --max-jpy counts yen. Nothing is ever converted, and what is paid is printed before it is paid.

The result goes to standard output, everything else to standard error. A payment is signed once: whatever happens, it is
only ever sent again as it is, so that a call is never paid twice.

Examples:
  payphone call roll '{"low":1,"high":6}'
  payphone call roll --dry-run
  payphone call /v1/anchor @anchor.json --rail solana --url https://pay.example.com
`;

/** The command line: each command's code is loaded when it is asked for. Sets the exit code, and never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync([...argv]);
  } catch (error) {
    process.exitCode = toExitCode(error);
  }
}

function createProgram(): Command {
  const program = new Command("payphone")
    .description(packageJson.description)
    .version(packageJson.version)
    .exitOverride()
    .addHelpText("after", EXIT_CODES);
  addServers(program);
  addCheck(program);
  addTypes(program);
  addCall(program);
  addPeer(program);
  return program;
}

const dirOption = (what: string): Option => new Option("--dir <directory>", what).default(ROOT, "this project");

const SERVED = "the directory with manifests/, plugins/ and schemas/";

function addServers(program: Command): void {
  program
    .command("sandbox")
    .description("sell the services for play money: chains, facilitator and a funded buyer are embedded, all offline")
    .addOption(dirOption(SERVED))
    .action(async (options: { dir: string }) => (await import("./sandbox.ts")).runSandbox(options));
  program
    .command("serve")
    .description("sell the services for real money; says what the environment lacks, and starts when nothing does")
    .addOption(dirOption(SERVED))
    .action(async (options: { dir: string }) => (await import("./serve.ts")).runServe(options));
}

function addCheck(program: Command): void {
  program
    .command("check")
    .description("find every fault of the manifests, schemas and plugins")
    .option("--discovery", "look at a sound set as the directories that list services do")
    .addOption(dirOption(SERVED))
    .action(async ({ dir, discovery = false }: { dir: string; discovery?: boolean }) => {
      if (discovery) return lookAsDirectories(dir);
      const { checkDir, toReport } = await import("./check.ts");
      const faults = await checkDir(dir, loadEnv());
      console.log(toReport(faults));
      process.exitCode = faults.length > 0 ? EXIT.failed : EXIT.ok;
    });
}

async function lookAsDirectories(dir: string): Promise<void> {
  const { checkDiscovery, toDiscoveryReport } = await import("./discovery-check.ts");
  const { env, publicBaseUrl: baseUrl } = loadConfig();
  const findings = await checkDiscovery(dir, { env, baseUrl });
  console.log(toDiscoveryReport(findings));
  process.exitCode = findings.some(({ level }) => level === "error") ? EXIT.failed : EXIT.ok;
}

function addTypes(program: Command): void {
  program
    .command("types")
    .description("write the types of handlers from manifests and schemas")
    .option("--check", "write nothing, and fail when a file is not current")
    .addOption(dirOption(SERVED))
    .action(async ({ dir, check = false }: { dir: string; check?: boolean }) => {
      const { writeTypes } = await import("./types.ts");
      const stale = await writeTypes(dir, { check });
      const command = dir === ROOT ? "payphone types" : `payphone types --dir ${dir}`;
      for (const file of stale) console.log(check ? `${file} is not current: run "${command}"` : `${file} written`);
      if (stale.length === 0) console.log("all current");
      process.exitCode = check && stale.length > 0 ? EXIT.failed : EXIT.ok;
    });
}

function addPeer(program: Command): void {
  const peer = program.command("peer").description("speak with other agents as this server, under its identity key");
  peer
    .command("hello")
    .description("greet another agent at its signed door, and see who answers")
    .argument("<url>", "its public base URL", toOrigin)
    .option("--json", "print its answer as it is")
    .action(async (url: string, { json = false }: { json?: boolean }) => {
      const { runPeerHello } = await import("./peer.ts");
      process.exitCode = await runPeerHello(loadConfig(), { url, json }, openVoice());
    });
  peer
    .command("rotate")
    .description("begin the change to a new identity key, without a gap")
    .action(async () => {
      const { runPeerRotate } = await import("./peer.ts");
      process.exitCode = await runPeerRotate(loadConfig(), openVoice());
    });
}

function addCall(program: Command): void {
  program
    .command("call")
    .description("buy one call from a seller, and show what it costs before paying")
    .argument("[service]", "what to call")
    .argument("[input]", "its input")
    .option("--url <base>", "the seller (default: PAYPHONE_URL, or http://127.0.0.1:4021)", toOrigin)
    .option("--rail <id>", "how to pay: base, solana or polygon (default: the first offer that there is a key for)")
    .option("--max-usd <amount>", "refuse a price above this", toPrice, "1")
    .option("--max-jpy <amount>", "refuse a price in yen above this", toPrice, "200")
    .option("--dry-run", "stop at the challenge")
    .option("--json", "print one JSON document with challenge, payment, receipt and result")
    .addOption(new Option("--method <method>", "for addresses that no catalogue names").choices(["GET", "POST"]))
    .option("--wait <seconds>", "how long to go on asking for the result of a payment", toSeconds, 60)
    .option("--resume <file>", "ask again for the result of this payment, instead of paying")
    .addOption(dirOption("its manifests/_site.yaml names the rails that are paid on"))
    .addHelpText("after", CALL_HELP)
    .action(async (service: string | undefined, input: string | undefined, options: CallFlags, command: Command) => {
      if (!service && !options.resume) command.error("error: name a service, or give --resume <file>");
      const { runCall } = await import("./call.ts");
      const { dir, url, method, rail, resume, dryRun = false, json = false } = options;
      const limits = { usd: options.maxUsd, jpy: options.maxJpy };
      const waitSeconds = options.wait;
      const call = { service, input, url, method, rail, limits, dryRun, json, waitSeconds, resume, dir };
      process.exitCode = await runCall(loadConfig(), call, openVoice());
    });
}

type CallFlags = { readonly [Key in "url" | "method" | "rail" | "resume"]?: string } & {
  readonly dir: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly maxUsd: string;
  readonly maxJpy: string;
  readonly wait: number;
};

/** The terminal. Ctrl-C asks politely once; the second time it is Node's own. */
function openVoice(): Voice {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    signal: stop.signal,
  };
}

function toOrigin(text: string): string {
  return ORIGIN.parse(text) ?? invalid(ORIGIN.right);
}

function toPrice(text: string): string {
  return isPrice(text) ? text : invalid("a plain decimal number above zero, like 0.05");
}

function toSeconds(text: string): number {
  return /^\d{1,6}$/.test(text) ? Number(text) : invalid("a whole number of seconds");
}

function invalid(right: string): never {
  throw new InvalidArgumentError(`It must be ${right}.`);
}

/** Says what went wrong, without a stack unless it is our own mistake. */
function toExitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  if (error instanceof Problem) {
    console.error(error.message.includes("\n") ? error.message : `payphone: ${error.message}`);
    return exitCodeOf(error.code);
  }
  const { code, message, stack } = error as NodeJS.ErrnoException;
  if (code === "ERR_MODULE_NOT_FOUND")
    console.error(
      `payphone: a package is missing: run "npm ci" in ${ROOT}, with development dependencies\n  ${message}`,
    );
  else console.error(stack ?? error);
  return EXIT.failed;
}
