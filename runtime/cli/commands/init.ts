import type { Command } from "commander";
import { toPrice } from "./arguments.ts";
import { operationsOption, tagOption } from "./import.ts";

const HELP = `
The folder gets package.json, tsconfig.json, manifests/_site.yaml, one service with its plugin and test, and a README. It may
be a new repository: its README.md and .gitignore are extended. On a terminal init asks for what is not given; otherwise it
asks nothing. --from without --operations, --tag or --all lists what the document has, and makes nothing.

Examples:
  payphone init my-shop
  payphone init my-shop --owner "Ada Lovelace" --url https://ada.example.com
  payphone init my-shop --from openapi.json --operations getRates --price 0.005
`;

/** `init`: creates a new shop. */
export function addInitCommand(program: Command): void {
  program
    .command("init")
    .description("make a new shop: a folder with one service that can be sold at once")
    .argument("<folder>", "the new folder; its name becomes the shop's")
    .option("--owner <name>", "who sells (default: git's user.name, or this machine's user)")
    .option("--url <address>", "where buyers can reach the owner")
    .option("--testnet", "be paid on Base Sepolia and Solana devnet, in money that is worth nothing")
    .option("--from <document>", "sell operations of this OpenAPI document as well: a file or a URL")
    .addOption(operationsOption())
    .addOption(tagOption())
    .option("--all", "with --from: every operation")
    .option("--price <usd>", "with --from: US dollars a call (default: 0.01)", toPrice)
    .addHelpText("after", HELP)
    .action(async (dir: string, flags: InitFlags, command: Command) => {
      const { from, operations = [], tag = [], all = false, price, ...own } = flags;
      const selection = { names: operations, tags: tag, all };
      const lost = (["operations", "tag", "all", "price"] as const).find((name) => flags[name] !== undefined);
      if (from === undefined && lost) command.error(`error: --${lost} is about a document: name it with --from`);
      const document = from === undefined ? undefined : { location: from, selection, price, isDryRun: false };
      const { runInit } = await import("../init/init.ts");
      if (!document) return console.log(await runInit({ dir, ...own }));
      const { openDocument, runOpenApiImport } = await import("../import/import-openapi.ts");
      const opened = await openDocument(document); // First, so that an unusable document leaves no folder behind.
      if (opened.chosen.length > 0) console.log(await runInit({ dir, ...own }));
      const typed = `npx payphone init ${dir} --from ${from}`;
      const { report } = await runOpenApiImport({ ...document, dir, typed }, opened);
      console.log(report);
    });
}

interface InitFlags {
  readonly owner?: string;
  readonly url?: string;
  readonly testnet?: boolean;
  readonly from?: string;
  readonly operations?: readonly string[];
  readonly tag?: readonly string[];
  readonly all?: boolean;
  readonly price?: string;
}
