import { writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { withNoun } from "../../api/text.ts";

const HELP = `
A source is a facilitator's URL, whose /discovery/resources is read page by page, or a file: a saved answer of that
endpoint, a list of resources, or a registry. Later sources override earlier ones, so name a file of your own last.
Set LEDGER_REGISTRY to the written file: the ledger services then name the recipients that it lists.

Examples:
  payphone registry import https://api.cdp.coinbase.com/platform/v2/x402 --out registry.json
  payphone registry import bazaar.json own-services.json --out registry.json
`;

/** `registry import`: builds the registry from which the ledger services know the names of recipients. */
export function addRegistryCommands(program: Command): void {
  program
    .command("registry")
    .description("the registry from which spend accounting takes the names of services")
    .command("import")
    .description("build a registry from facilitators' discovery endpoints and files: checked, sorted, versioned")
    .argument("<sources...>", "URLs of facilitators, and files")
    .option("--out <file>", "where to write it; printed unless given")
    .addHelpText("after", HELP)
    .action(async (sources: string[], { out }: { out?: string }) => {
      const { importRegistry } = await import("../registry/registry.ts");
      const registry = await importRegistry(sources, Date.now(), new AbortController().signal);
      const text = `${JSON.stringify(registry, null, 2)}\n`;
      if (out === undefined) return console.log(text.trimEnd());
      await writeFile(out, text);
      const recipients = registry.services.reduce((count, service) => count + service.recipients.length, 0);
      const contents = `${withNoun(registry.services.length, "service")}, ${withNoun(recipients, "recipient")}`;
      console.log(`${out}: ${contents}, version ${registry.version}`);
    });
}
