import { type Command, InvalidArgumentError } from "commander";
import { type Config, loadConfig } from "../config/config.ts";
import { toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import { printable, toPrintableJson } from "../printable.ts";
import { shopOption } from "./directory.ts";

const DIFF_HELP = `
Ends with 0 when nothing differs, 1 when something does, and 2 when the folder has faults or another one is sold. "!" marks
what may break buyers.

Examples:
  payphone diff
  payphone diff --json | jq '.changes[] | select(.isBreaking)'
`;
const APPLY_HELP = `
Calls in flight end on the set that they began with, and offers that were made stay payable. A faulty folder changes nothing
(exit code 2). SIGHUP does the same. What the environment says is read only at the start.

Examples:
  payphone apply --dry-run
  payphone apply
`;
const ROLLBACK_HELP = `
The shop's folder stays as it is, and is not sold by a restart until it changes or is applied.

Examples:
  payphone rollback
  payphone rollback 3
`;
const HISTORY_HELP = `
Examples:
  payphone history
  payphone history --json | jq '.[-1].digest'
`;
const STATUS_HELP = `
Examples:
  payphone status
  curl -H "Authorization: Bearer $(payphone status --token)" http://127.0.0.1:$ADMIN_PORT/status
`;

const TRUST_HELP = `
A facilitator that reports a settlement which the chain does not show is passed over for a day. What it has reported until
now is forgiven; the next false report counts again. "payphone status" says who is passed over, and why.

Examples:
  payphone trust first
  payphone trust in-process
`;

interface Flags {
  readonly dir?: string;
  readonly json?: boolean;
  readonly dryRun?: boolean;
  readonly token?: boolean;
}

const toSteps = (text: string): number => {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1 on.");
};

const print = (value: unknown, text: () => string, json = false): void =>
  console.log(json ? toPrintableJson(value) : text());

const warn = (silent: readonly string[]): void => {
  for (const line of silent) console.error(`payphone: ${printable(line)}`);
};

/** The configuration; and a line on stderr where the processes that will be asked are a sandbox's. */
async function loadAsked(): Promise<Config> {
  const config = loadConfig();
  const { isSandbox } = await import("../operate/ask.ts");
  if (await isSandbox(config.dataDir)) console.error("The sandbox's: play money.");
  return config;
}

/** The commands for a running shop: `diff`, `apply`, `rollback`, `history`, `trust` and `status`. */
export function addOperateCommands(program: Command): void {
  addDiff(program);
  addApply(program);
  program
    .command("rollback")
    .description("sell an earlier set again")
    .argument("[n]", "how many sets to go back (default: 1)", toSteps)
    .addOption(shopOption())
    .addHelpText("after", ROLLBACK_HELP)
    .action(async (steps = 1) => {
      const { rollBack, toAppliedText } = await import("../operate/changes.ts");
      console.log(toAppliedText(await rollBack(await loadAsked(), steps)));
    });
  program
    .command("history")
    .description("list the sets that were sold: when, by whom, and what changed")
    .option("--json", "print a JSON list, the oldest first")
    .addOption(shopOption())
    .addHelpText("after", HISTORY_HELP)
    .action(async ({ json }: Flags) => {
      const { readHistory, toHistoryText } = await import("../operate/changes.ts");
      const entries = await readHistory(await loadAsked());
      print(entries, () => toHistoryText(entries), json);
    });
  program
    .command("trust")
    .description("trust a facilitator again that has reported a false settlement")
    .argument("<facilitator>", "its id in _site.yaml, or remote, or in-process")
    .addOption(shopOption())
    .addHelpText("after", TRUST_HELP)
    .action(async (facilitator: string) => {
      const { toTrustText, trustAgain } = await import("../operate/trust.ts");
      const { networks, silent } = await trustAgain(await loadAsked(), facilitator);
      console.log(toTrustText(facilitator, networks));
      warn(silent);
    });
  program
    .command("status")
    .description("show the processes that sell from this store: their sets, rails, jobs and warnings")
    .option("--json", "print a JSON list, one object for each process of this machine")
    .option("--token", "print only the token for ADMIN_PORT")
    .addOption(shopOption())
    .addHelpText("after", STATUS_HELP)
    .action(async ({ json, token }: Flags) => {
      const { readStatus, readAdminToken, toStatusText } = await import("../operate/status.ts");
      if (token) return console.log(await readAdminToken(loadConfig()));
      const { answers, silent } = await readStatus(await loadAsked());
      print(answers, () => toStatusText(answers), json);
      warn(silent);
    });
}

function addDiff(program: Command): void {
  program
    .command("diff")
    .description("compare the shop's folder with what is being sold")
    .option("--json", "print a JSON object")
    .addOption(shopOption())
    .addHelpText("after", DIFF_HELP)
    .action(async (flags: Flags) => {
      const comparison = await showDifference(flags);
      process.exitCode = comparison.changes.length > 0 ? EXIT.failed : EXIT.ok;
    });
}

function addApply(program: Command): void {
  program
    .command("apply")
    .description("sell what the shop's folder holds, without refusing a call")
    .option("--dry-run", "only say what would change")
    .addOption(shopOption())
    .addHelpText("after", APPLY_HELP)
    .action(async (flags: Flags) => {
      if (flags.dryRun) return void (await showDifference(flags));
      const { apply, toAppliedText } = await import("../operate/changes.ts");
      console.log(toAppliedText(await apply(await loadAsked(), flags.dir)));
    });
}

async function showDifference({ dir, json }: Flags) {
  const { compareWithSold, toDiffText } = await import("../operate/changes.ts");
  const comparison = await compareWithSold({ dir: toShop(dir), config: await loadAsked() });
  print(comparison, () => toDiffText(comparison), json);
  return comparison;
}
