/** Who may import whom: the floors below a floor, and the packages that it may use. */
export interface FloorRule {
  readonly below: readonly string[];
  readonly packages: RegExp;
}

const BELOW_SERVER = ["schemas", "runtime/api", "runtime/core"];

/** The floors, from the lowest to the highest. */
export const FLOORS: Readonly<Record<string, FloorRule>> = {
  schemas: { below: ["runtime/api"], packages: /^$/ },
  "runtime/api": { below: ["schemas"], packages: /^$/ },
  "runtime/core": {
    below: ["schemas", "runtime/api"],
    packages: /^(node:crypto|ajv(\/.*)?|ajv-formats|canonicalize)$/,
  },
  "runtime/drivers": { below: BELOW_SERVER, packages: /^(?!express$)/ },
  "runtime/surfaces": { below: BELOW_SERVER, packages: /^(marked|viem\/utils)$/ },
  "runtime/server": {
    below: [...BELOW_SERVER, "runtime/surfaces"],
    packages: /^(express|node:(http|zlib|crypto|net|buffer|querystring|stream|timers\/promises))$/,
  },
  "runtime/sandbox": { below: [...BELOW_SERVER, "runtime/drivers"], packages: /^(?!express$)/ },
  "runtime/cli": {
    below: [...BELOW_SERVER, "runtime/drivers", "runtime/surfaces", "runtime/server", "runtime/sandbox"],
    packages: /^(?!express$)/,
  },
  plugins: { below: ["#plugin"], packages: /^(?!(express|keyv|@keyv\/redis)$)/ },
};

/**
 * The order of the rooms in a folder that has several: each may import those after it. Files beside the rooms stand
 * wherever their own imports put them.
 */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  "runtime/core": [
    "peers",
    "wallets",
    "rules",
    "payments",
    "webhooks",
    "jobs",
    "refunds",
    "time",
    "notes",
    "books",
    "x402",
    "rails",
    "proxy",
    "set",
    "schema",
  ],
  "runtime/core/payments": ["identifiers", "offers"],
  "runtime/drivers": [
    "mcp",
    "proxy",
    "facilitator",
    "evm",
    "solana",
    "llm",
    "store",
    "books",
    "peers",
    "upstream",
    "queue",
    "metrics",
    "tracing",
    "webhooks",
    "http",
  ],
  "runtime/drivers/facilitator": ["local"],
  "runtime/drivers/evm": ["sender"],
  "runtime/drivers/store": ["sqlite"],
  "runtime/surfaces": ["pages", "a2a", "mcp", "openapi", "discovery", "rpc", "http", "schema"],
  "runtime/surfaces/a2a": ["peers"],
  "runtime/surfaces/pages": ["docs", "report", "seller"],
  "runtime/server": ["admin", "routes", "reply", "request"],
  "runtime/sandbox": ["svm", "evm", "recordings"],
  "runtime/cli": [
    "commands",
    "completion",
    "init",
    "embed",
    "contract",
    "import",
    "sandbox",
    "record",
    "discovery",
    "refunds",
    "webhooks",
    "simulate",
    "books",
    "purchases",
    "verify",
    "mcp-proxy",
    "backup",
    "live",
    "peer",
    "call",
    "registry",
    "operate",
    "serve",
    "process",
    "monitor",
    "history",
    "set",
    "config",
  ],
  "runtime/core/proxy": ["checks"],
  "runtime/cli/serve": ["admin", "change"],
  "runtime/cli/set": ["plugins"],
  "runtime/cli/import": ["mcp", "openapi", "shop"],
  "runtime/cli/import/openapi": ["schema"],
  "plugins/calldata": ["calls", "directories", "abi"],
  "plugins/datetime": ["phrase", "machine", "zones"],
  "plugins/ledger": ["report", "chain"],
  "plugins/wallet": ["investigate", "intel", "screen", "names"],
  "plugins/wallet/names": ["sol", "ens"],
  "plugins/wallet/investigate": ["report", "collection", "score", "sources"],
};

/** Words that have one home. */
export const HOMES: readonly [word: RegExp, home: RegExp][] = [
  [/\bprocess\.env\b/, /^runtime\/cli\/config\/config\.ts$/],
  // The rules and the documents are given the time; what runs in a browser has its own clock.
  [/\bDate\.now\(|\bnew Date\(\)/, /^(?!runtime\/(?:api|core|surfaces)\/)|^runtime\/surfaces\/pages\/explorer\//],
  [/^export default/m, /^plugins\//],
  [/^(export )?(const )?enum |^(export )?namespace /m, /^$/],
  [/\bfrom "express"/, /^runtime\/server\//],
  // Importing its values loads Node's fetch client, too: runtime/server/request/node-http.ts has them without it.
  [/^import (?!type )[^;]*\bfrom "node:https?"/m, /^runtime\/sandbox\//],
  [/\.\.\.\{/, /^$/], // Properties that stand on lines of their own are found.
  // A computed `import(…)` loads code that nobody listed: only the loader and the sandbox's entrance may.
  [/\bimport\((?!")/, /^runtime\/cli\/set\/plugins\/load\.ts$/],
];

/** Files have fewer lines than this. */
export const MAX_LINES = 250;

/** Folders have at most so many source files. */
export const MAX_FILES = 20;
