import { PATHS } from "../../core/paths.ts";
import { isSameToken, type RailToken } from "../../core/rails/tokens.ts";
import type { Service } from "../../core/service.ts";
import { mediaOf, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import { toAtomic } from "../../core/set/price.ts";
import { parametersOf } from "../../core/set/route.ts";
import { splitInput, toQueryPairs } from "../schema/path-fields.ts";
import type { Language } from "./highlight.ts";

/** A piece of code to copy. */
export interface Snippet {
  readonly title: string;
  readonly language: Language;
  readonly code: string;
}

/** The default limit of stock clients, in dollars per call. */
const STOCK_LIMIT = 1;
/** USDC on Base and on Base Sepolia. Stock clients know more tokens; naming one of those as well does no harm. */
const STOCK_TOKENS: readonly RailToken[] = [
  { network: "eip155:8453", asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" },
  { network: "eip155:84532", asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" },
];

/** Code that calls a service from outside the page. */
export function toSnippets(service: Service, site: SiteManifest, baseUrl: string): Snippet[] {
  const { price, sign_in: needsSignIn } = service.manifest;
  const isPaid = price !== undefined;
  const rail = site.rails.find(({ network, currency }) => network.startsWith("eip155:") && currency === "usd");
  return [
    { title: "curl", language: "sh", code: toCurl(service, baseUrl) },
    ...(isPaid && rail ? [{ title: "fetch", language: "js" as const, code: toFetch(service, rail, baseUrl) }] : []),
    ...(isPaid && rail ? [{ title: "Python", language: "python" as const, code: toPython(service, baseUrl) }] : []),
    { title: "MCP", language: "json", code: toMcpConfiguration(site, baseUrl) },
    // `payphone call` does not sign in.
    ...(needsSignIn ? [] : [{ title: "CLI", language: "sh" as const, code: toCommand(service, baseUrl) }]),
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
  /** JSON; set for a POST only. */
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
  const query = new URLSearchParams(toQueryPairs(rest));
  return { method: "GET", url: query.size === 0 ? url : `${url}?${query}`, body: "" };
}

function toFetch(service: Service, rail: RailManifest, baseUrl: string): string {
  const { price = "0", free } = service.manifest;
  const file = toFileName(service);
  return [
    `// npm install @x402/fetch @x402/evm ${free ? "@x402/extensions " : ""}viem`,
    ...(file === undefined ? [] : [`import { writeFile } from "node:fs/promises";`]),
    `import { env } from "node:process";`,
    `import { wrapFetchWithPayment, x402Client } from "@x402/fetch";`,
    `import { ExactEvmScheme } from "@x402/evm/exact/client";`,
    ...(free ? [`import { createSIWxClientExtension } from "@x402/extensions/sign-in-with-x";`] : []),
    `import { privateKeyToAccount } from "viem/accounts";`,
    "",
    "const account = privateKeyToAccount(env.BUYER_EVM_KEY);",
    `const client = new x402Client().register("${rail.network}", new ExactEvmScheme(account));`,
    ...(free
      ? ["client.registerExtension(createSIWxClientExtension({ signers: [account] })); // free calls first"]
      : []),
    ...toSpendControls(rail, price),
    "const pay = wrapFetchWithPayment(fetch, client);",
    ...toFetchCall(toRequest(service, baseUrl)),
    ...(file === undefined
      ? ["console.log(await response.json());"]
      : [
          "if (!response.ok) throw new Error(await response.text());",
          `await writeFile(${JSON.stringify(file)}, Buffer.from(await response.arrayBuffer()));`,
        ]),
  ].join("\n");
}

/** What a stock client must be told before it pays this price; nothing where it pays it by itself. */
function toSpendControls(rail: RailManifest, price: string): string[] {
  if (STOCK_TOKENS.some((token) => isSameToken(token, rail)))
    return isDear(price) ? [`client.setSpendControls({ maxAmountPerPayment: "$${price}" });`] : [];
  const { network, asset, decimals } = rail;
  const token = `network: "${network}", asset: "${asset}", maxAmountPerPayment: "${toAtomic(price, decimals)}"`;
  return [`client.setSpendControls({ allowedAssets: [{ ${token} }] });`];
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

/** With the official x402 package for Python. */
function toPython(service: Service, baseUrl: string): string {
  const { method, url, body } = toRequest(service, baseUrl);
  const call =
    method === "GET"
      ? `session.get(${JSON.stringify(url)})`
      : `session.post(${JSON.stringify(url)}, json=${toPythonValue(JSON.parse(body))})`;
  const file = toFileName(service);
  return [
    '# pip install "x402[requests,evm]"',
    "import os",
    "",
    "from eth_account import Account",
    "from x402 import x402ClientSync",
    "from x402.http.clients import x402_requests",
    "from x402.mechanisms.evm import EthAccountSigner",
    "from x402.mechanisms.evm.exact.register import register_exact_evm_client",
    "",
    "client = x402ClientSync()",
    'account = Account.from_key(os.environ["BUYER_EVM_KEY"])',
    "register_exact_evm_client(client, EthAccountSigner(account))",
    "with x402_requests(client) as session:",
    ...(file === undefined
      ? [`    print(${call}.json())`]
      : [
          `    response = ${call}`,
          "    if not response.ok:",
          "        raise SystemExit(response.text)",
          `    with open(${JSON.stringify(file)}, "wb") as file:`,
          "        file.write(response.content)",
        ]),
  ].join("\n");
}

/** Where code keeps a file that is sold: it is not JSON, and would be lost when it was paid for. */
function toFileName({ manifest }: Service): string | undefined {
  const media = mediaOf(manifest);
  if (!media) return undefined;
  const [, extension] = /\/([a-z0-9]{2,4})(?:\+\w+)?$/.exec(media.type) ?? [];
  return extension === undefined ? manifest.id : `${manifest.id}.${extension}`;
}

/** JSON as Python writes it. */
function toPythonValue(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(toPythonValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, part]) => `${JSON.stringify(name)}: ${toPythonValue(part)}`)
    .join(", ")}}`;
}

/** The command that buys the first example. Without a base URL, the command looks the seller up itself. */
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
