import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { Problem } from "../../api/problem.ts";
import { toAccount } from "../../core/account.ts";
import type { Books } from "../../core/books/books.ts";
import { toForget } from "../../core/books/keeping.ts";
import { isObject } from "../../core/json.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { structureChecks } from "../../core/set/structure.ts";
import { treasuryAddresses } from "../../drivers/treasury.ts";
import type { Config } from "../config/config.ts";
import { hasSandboxOnly, requireStore, type StorePlace } from "../config/server-store.ts";
import { createBookAccess } from "../monitor/book-access.ts";

export interface BookPlace {
  /** Its `manifests/_site.yaml` names rails, own wallets, and how long sales are kept. */
  readonly dir: string;
  /** Whether to use the sandbox's book (play money). When omitted, it is used only when there is no other book. */
  readonly sandbox?: boolean | undefined;
}

/** A shop's book, open and up to date. */
export interface LentBook {
  readonly books: Books;
  readonly site: Pick<SiteManifest, "rails" | "books">;
  /** The seller's own wallets, EVM addresses in lower case. */
  readonly own: readonly string[];
  /** Where the server keeps what is not in the book. */
  readonly store: StorePlace;
  /** The sandbox's data directory, when the book is a sandbox's. */
  readonly sandboxDir: string | undefined;
}

/**
 * Opens the book of a shop for the time of `work`. The shop's server may be running.
 * @throws Problem `bad-request` when there is none; `unavailable` when it cannot be read.
 */
export async function withBooks<T>(config: Config, place: BookPlace, work: (shop: LentBook) => Promise<T>): Promise<T> {
  const site = await loadSite(place.dir);
  const sandboxDir = (place.sandbox ?? hasSandboxOnly(config)) ? join(config.dataDir, "sandbox") : undefined;
  const from = sandboxDir === undefined ? config : { dataDir: sandboxDir, redisUrl: undefined };
  requireStore(from);
  const access = createBookAccess(from, {
    forget: () => toForget(site.books, Date.now()),
    onProgress: (taken) => process.stderr.write(`Reading the book from Redis: ${taken} entries so far\n`),
    onDamaged: (stream, id) => process.stderr.write(`The entry ${id} of ${stream} in Redis is damaged: passed over\n`),
  });
  try {
    const books = await access.open();
    await books.refresh();
    const named = [...(site.books?.own ?? []), ...(await ownAddresses(config, sandboxDir))].map(toAccount);
    return await work({ books, site, own: [...new Set(named)], store: from, sandboxDir });
  } finally {
    await access.close();
  }
}

/**
 * Reads the site's file. Only what a book needs of it is checked, and a `keep_days` below the minimum is let pass: a server may be
 * selling an earlier set. @throws Problem `bad-request`.
 */
async function loadSite(dir: string): Promise<LentBook["site"]> {
  const file = join(dir, "manifests/_site.yaml");
  const read = await readYamlFile(file);
  const data = isObject(read) ? read : {};
  const { faults } = structureChecks().site({ file, data, locate: () => START });
  const fault = faults.find(({ code, message }) => code !== "out-of-range" && /^(?:rails|books)\b/.test(message));
  if (fault) throw new Problem("bad-request", `${file}: ${fault.message}`);
  return data as unknown as SiteManifest;
}

const START = { line: 1, column: 1 };

async function readYamlFile(file: string): Promise<unknown> {
  try {
    return parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new Problem("bad-request", `cannot read ${file} (${(error as Error).message})`);
  }
}

/** The treasury's addresses: the sandbox's, or those of the configured keys. */
async function ownAddresses({ treasury }: Config, sandboxDir: string | undefined): Promise<readonly string[]> {
  if (sandboxDir === undefined) return treasuryAddresses(treasury);
  const { loadWallets } = await import("../../sandbox/wallet.ts");
  const { evm, solana } = loadWallets(sandboxDir).treasury;
  return [evm.address, solana.address];
}
