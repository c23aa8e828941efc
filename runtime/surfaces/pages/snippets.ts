import { PATHS } from "../../core/paths.ts";
import type { Service } from "../../core/service.ts";
import type { RailManifest, SiteManifest } from "../../core/set/manifest.ts";
import { parametersOf } from "../../core/set/route.ts";
import { splitInput } from "../schema/path-fields.ts";

/** A piece of code to copy. */
export interface Snippet {
  readonly title: string;
  readonly code: string;
}

/** The default limit of stock clients, in dollars per call. */
const STOCK_LIMIT = 1;

/** Code that calls a service from outside the page. */
export function toSnippets(service: Service, site: SiteManifest, baseUrl: string): Snippet[] {
  const isPaid = service.manifest.price !== undefined;
  const rail = site.rails.find(({ network, currency }) => network.startsWith("eip155:") && currency === "usd");
  return [
    { title: "curl", code: toCurl(service, baseUrl) },
    ...(isPaid && rail ? [{ title: "@x402/fetch", code: toFetch(service, rail, baseUrl) }] : []),
    { title: "payphone", code: `# in payphone's own directory\n${toCommand(service, baseUrl)}` },
    ...(isPaid ? [{ title: "MCP", code: toMcpConfiguration(site, baseUrl) }] : []),
  ];
}

/** A request of the first example. */
export function toCurl(service: Service, baseUrl: string): string {
  const { method, url, body } = toRequest(service, baseUrl);
  if (method === "GET") return `curl -i ${quote(url)}`;
  return `curl -i -X POST ${quote(url)} \\\n  -H 'content-type: application/json' \\\n  -d ${quote(body)}`;
}

interface ExampleRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  /** JSON; of a POST only. */
  readonly body: string;
}

/** The first example as a request of the main route. */
function toRequest({ manifest, routes, path }: Service, baseUrl: string): ExampleRequest {
  const { inPath, rest } = splitInput(
    (manifest.examples[0]?.input ?? {}) as Record<string, unknown>,
    parametersOf(path),
  );
  const url = baseUrl + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(inPath[name])));
  if (routes[0]?.method !== "GET") return { method: "POST", url, body: JSON.stringify(rest) };
  const texts = Object.entries(rest).map(([name, value]) => [name, String(value)] as [string, string]);
  const query = new URLSearchParams(texts);
  return { method: "GET", url: query.size === 0 ? url : `${url}?${query}`, body: "" };
}

function toFetch(service: Service, { network }: RailManifest, baseUrl: string): string {
  const { price = "0" } = service.manifest;
  return [
    "// npm install @x402/fetch @x402/evm viem",
    `import { env } from "node:process";`,
    `import { wrapFetchWithPayment, x402Client } from "@x402/fetch";`,
    `import { ExactEvmScheme } from "@x402/evm/exact/client";`,
    `import { privateKeyToAccount } from "viem/accounts";`,
    "",
    "const account = privateKeyToAccount(env.BUYER_EVM_KEY);",
    `const client = new x402Client().register("${network}", new ExactEvmScheme(account));`,
    ...(isDear(price) ? [`client.setSpendControls({ maxAmountPerPayment: "$${price}" });`] : []),
    "const pay = wrapFetchWithPayment(fetch, client);",
    ...toFetchCall(toRequest(service, baseUrl)),
    "console.log(await response.json());",
  ].join("\n");
}

function toFetchCall({ method, url, body }: ExampleRequest): string[] {
  if (method === "GET") return [`const response = await pay(${JSON.stringify(url)});`];
  return [
    `const response = await pay(${JSON.stringify(url)}, {`,
    `  method: "POST",`,
    `  headers: { "content-type": "application/json" },`,
    `  body: JSON.stringify(${body}),`,
    "});",
  ];
}

/** The command that buys the first example. Without a base URL, the command finds the seller itself. */
export function toCommand({ manifest: { id, price = "0", examples } }: Service, baseUrl?: string): string {
  const words = ["npx payphone call", id, quote(JSON.stringify(examples[0]?.input ?? {}))];
  if (baseUrl !== undefined) words.push("--url", baseUrl);
  if (isDear(price)) words.push("--max-usd", price);
  return words.join(" ");
}

const isDear = (price: string): boolean => Number(price) > STOCK_LIMIT;

const toMcpConfiguration = ({ name }: SiteManifest, baseUrl: string): string =>
  JSON.stringify({ mcpServers: { [name]: { type: "http", url: baseUrl + PATHS.mcp } } }, null, 2);

/** Quotes a text for a shell. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
