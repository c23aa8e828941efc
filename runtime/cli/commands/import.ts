import { type Command, InvalidArgumentError } from "commander";
import { toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import type { ImportOutcome } from "../import/import-openapi.ts";
import { toPrice } from "./arguments.ts";
import { shopOption } from "./directory.ts";

const OPENAPI_HELP = `
Without --operations, --tag or --all nothing is imported: the operations are listed, to choose from. Each becomes a manifest
in manifests/ with its schemas in schemas/, and the API an upstream in manifests/_site.yaml. What cannot be sold is listed
with the reason. A second import takes over what has changed in the document, and leaves alone what you have edited.

Examples:
  payphone import openapi https://api.frankfurter.dev/v2/openapi.json
  payphone import openapi petstore.yaml --operations getPetById,listPets --price 0.005
`;

/** `import openapi` and `import mcp`. */
export function addImportCommands(program: Command): void {
  const group = program
    .command("import")
    .description("make services of an API or of an MCP server that is there already");
  group
    .command("openapi")
    .description("make services of the operations of an OpenAPI document (2.0, 3.0, 3.1)")
    .argument("<document>", "a file or a URL, JSON or YAML")
    .option("--operations <names>", "these operations: operationId or 'GET /path', with commas between them", toList)
    .option("--tag <tags>", "the operations with these tags", toList)
    .option("--all", "every operation")
    .option(
      "--price <usd>",
      "US dollars a call (default: 0.01; a service that is there already keeps its own)",
      toPrice,
    )
    .option("--upstream <id>", "what the API is called in _site.yaml (default: by its title)", toUpstream)
    .option("--dry-run", "write nothing, and show what would be written")
    .addOption(shopOption())
    .addHelpText("after", OPENAPI_HELP)
    .action(async (location: string, flags: OpenApiFlags) => {
      const { dir, operations = [], tag = [], all = false, price, upstream, dryRun = false } = flags;
      const { runOpenApiImport } = await import("../import/import-openapi.ts");
      const selection = { names: operations, tags: tag, all };
      finish(await runOpenApiImport({ location, dir: toShop(dir), selection, price, upstream, isDryRun: dryRun }));
    });
}

interface OpenApiFlags {
  readonly dir?: string;
  readonly operations?: readonly string[];
  readonly tag?: readonly string[];
  readonly all?: boolean;
  readonly price?: string;
  readonly upstream?: string;
  readonly dryRun?: boolean;
}

function finish({ report, isPartial }: ImportOutcome): void {
  console.log(report);
  process.exitCode = isPartial ? EXIT.failed : EXIT.ok;
}

const toList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function toUpstream(text: string): string {
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= 32) return text;
  throw new InvalidArgumentError("It must be at most 32 lower-case letters, digits and single dashes.");
}
