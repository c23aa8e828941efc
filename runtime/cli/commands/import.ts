import { type Command, InvalidArgumentError, Option } from "commander";
import { loadEnv } from "../config/config.ts";
import { toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import type { ImportOutcome } from "../import/imported.ts";
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
  const group = program.command("import").description("make services from an existing API or MCP server");
  addOpenApiImport(group);
  addMcpImport(group);
}

function addOpenApiImport(group: Command): void {
  group
    .command("openapi")
    .description("make services of the operations of an OpenAPI document (2.0, 3.0, 3.1)")
    .argument("<document>", "a file or a URL, JSON or YAML")
    .addOption(operationsOption())
    .addOption(tagOption())
    .option("--all", "every operation")
    .addOption(priceOption())
    .option("--upstream <id>", "the API's id in _site.yaml (default: made from its title)", toUpstream)
    .option("--live", "send the examples of GET operations to the API, and record the answers for the sandbox")
    .option("--dry-run", "write nothing, and show what would be written")
    .addOption(shopOption())
    .addHelpText("after", OPENAPI_HELP)
    .action(async (location: string, flags: OpenApiFlags) => {
      const { dir, operations = [], tag = [], all = false, price, upstream, live = false, dryRun = false } = flags;
      const { runOpenApiImport } = await import("../import/import-openapi.ts");
      const selection = { names: operations, tags: tag, all };
      const recording = live ? { env: loadEnv() } : undefined;
      const terms = { location, dir: toShop(dir), selection, price, upstream, isDryRun: dryRun, live: recording };
      finish(await runOpenApiImport(terms));
    });
}

const MCP_HELP = `
The server is a URL (Streamable HTTP), or a program behind "--" that speaks over standard input and output. Without --tools or
--all its tools are listed. A program gets the variables that --env names, and no others but PATH, here and when it is sold.

Examples:
  payphone import mcp https://mcp.example.com/mcp --tools search --price 0.005
  payphone import mcp --all -- npx -y @modelcontextprotocol/server-everything
`;

function addMcpImport(group: Command): void {
  group
    .command("mcp")
    .description("make services of the tools of an MCP server")
    .argument("<server...>", 'a URL, or "--" and a program with its arguments')
    .option("--tools <names>", "these tools, with commas between them", toList)
    .option("--all", "every tool")
    .addOption(priceOption())
    .option("--upstream <id>", "the server's id in _site.yaml (default: made from its name)", toUpstream)
    .option("--env <names>", "the variables that the program gets, with commas between them", toList)
    .option("--key <variable>", "the variable that holds the bearer token of a server over HTTP")
    .option(
      "--key-header <name>",
      "the header that --key is sent in as it is, such as x-api-key, instead of a bearer token",
    )
    .option("--live", "send the examples of read-only tools to a server over HTTP, and record the answers")
    .option("--dry-run", "write nothing, and show what would be written")
    .addOption(shopOption())
    .addHelpText("after", MCP_HELP)
    .action(async (server: string[], flags: McpFlags) => {
      const { dir, tools = [], all = false, price, upstream, env: variables = [], live: isLive = false } = flags;
      const { runMcpImport } = await import("../import/import-mcp.ts");
      const named = { tools, all, price, upstream, variables, key: flags.key, keyHeader: flags.keyHeader, isLive };
      finish(
        await runMcpImport({ server, dir: toShop(dir), ...named, env: loadEnv(), isDryRun: flags.dryRun ?? false }),
      );
    });
}

const priceOption = (): Option =>
  new Option(
    "--price <usd>",
    "US dollars a call (default: 0.01; a service that is there already keeps its own)",
  ).argParser(toPrice);

interface ImportFlags {
  readonly live?: boolean;
  readonly dir?: string;
  readonly all?: boolean;
  readonly price?: string;
  readonly upstream?: string;
  readonly dryRun?: boolean;
}

interface McpFlags extends ImportFlags {
  readonly tools?: readonly string[];
  readonly env?: readonly string[];
  readonly key?: string;
  readonly keyHeader?: string;
}

interface OpenApiFlags extends ImportFlags {
  readonly operations?: readonly string[];
  readonly tag?: readonly string[];
}

function finish({ report, isPartial }: ImportOutcome): void {
  console.log(report);
  process.exitCode = isPartial ? EXIT.failed : EXIT.ok;
}

/** `--operations` of commands that choose from an OpenAPI document. */
export const operationsOption = (): Option =>
  new Option(
    "--operations <names>",
    "these operations: operationId or 'GET /path', with commas between them",
  ).argParser(toList);

/** `--tag` of commands that choose from an OpenAPI document. */
export const tagOption = (): Option => new Option("--tag <tags>", "the operations with these tags").argParser(toList);

const toList = (text: string): readonly string[] =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

function toUpstream(text: string): string {
  if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(text) && text.length <= 32) return text;
  throw new InvalidArgumentError("It must be at most 32 lower-case letters, digits and single dashes.");
}
