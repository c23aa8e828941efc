import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";

const FOLDER = join(import.meta.dirname, "shop");

/** The placeholders of a new shop's files. */
export interface Blanks {
  /** The name of the folder and of the site. */
  readonly name: string;
  readonly title: string;
  /** As YAML. */
  readonly owner: string;
  /** As YAML. */
  readonly contact: string;
  /** As JSON: the value for the dependency `payphone` in package.json. */
  readonly payphone: string;
}

/** The placeholders about money. */
interface MoneyBlanks {
  /** The part of _site.yaml. */
  readonly rails: string;
  /** In words. */
  readonly money: string;
  readonly baseRpc: string;
  readonly solanaRpc: string;
  /** The part of .env.example. */
  readonly facilitator: string;
}

/** @param isTest whether buyers pay on test networks, with worthless money. */
function toMoneyBlanks(isTest: boolean): MoneyBlanks {
  const read = (file: string): string => readFileSync(join(import.meta.dirname, file), "utf8").trim();
  if (!isTest) return { rails: read("real-rails.yaml"), ...REAL };
  return { rails: read("../config/testnet-rails.yaml"), ...TEST };
}

const REAL: Omit<MoneyBlanks, "rails"> = {
  money: "USDC on Base or Solana",
  baseRpc: "",
  solanaRpc: "",
  facilitator: `
# The x402 facilitator that settles payments; or Coinbase's, by its API key.
FACILITATOR_URL=
# CDP_API_KEY_ID=
# CDP_API_KEY_SECRET=
`,
};

const TEST: Omit<MoneyBlanks, "rails"> = {
  money: "test USDC on Base Sepolia or Solana devnet, which is worth nothing",
  baseRpc: "https://sepolia.base.org",
  solanaRpc: "https://api.devnet.solana.com",
  facilitator: "",
};

/**
 * The files of a new shop, by path. The templates in `shop/` end in `.txt`, so that no tool takes them for code or
 * settings of payphone, and spell out a leading dot.
 */
export function fillTemplate(own: Blanks, isTest: boolean): ReadonlyMap<string, string> {
  const texts = { nameInYaml: toYaml(own.name), titleInYaml: toYaml(own.title) };
  const blanks: Readonly<Record<string, string>> = { ...own, ...texts, ...toMoneyBlanks(isTest) };
  const files = globSync("**/*.txt", { cwd: FOLDER }).sort();
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (whole, blank: string) => blanks[blank] ?? whole);
  return new Map(files.map((file) => [toPath(file), fill(readFileSync(join(FOLDER, file), "utf8"))]));
}

/** YAML would take some names for numbers, or for `null`. */
const toYaml = (text: string): string => (typeof parse(text) === "string" ? text : JSON.stringify(text));

function toPath(file: string): string {
  const name = file.slice(dirname(file) === "." ? 0 : dirname(file).length + 1, -".txt".length);
  return join(dirname(file), name.replace(/^dot-/, "."));
}
