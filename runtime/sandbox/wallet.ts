import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { base58 } from "@scure/base";
import { Keypair } from "@solana/web3.js";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import type { Hex } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { makeFolder } from "../drivers/folder.ts";

/** One party's keys and addresses. */
export interface Wallet {
  readonly evm: { readonly address: Hex; readonly privateKey: Hex };
  /** `secretKey` is base58 of 64 bytes, as wallets export it. */
  readonly solana: { readonly address: string; readonly secretKey: string };
}

/** The parties with money in a sandbox. */
export interface SandboxWallets {
  readonly buyer: Wallet;
  readonly treasury: Wallet;
}

/**
 * Loads the wallets from `sandbox.json` in this data directory; the first start creates them.
 * @throws Problem `unavailable` when the file is malformed, or cannot be read or written.
 */
export function loadWallets(dataDir: string): SandboxWallets {
  const path = join(dataDir, "sandbox.json");
  const kept = readKept(path) ?? keep(path, { buyer: createKeys(), treasury: createKeys() });
  try {
    return { buyer: toWallet(kept.buyer), treasury: toWallet(kept.treasury) };
  } catch (cause) {
    throw spoilt(path, cause);
  }
}

interface Keys {
  readonly evm: Hex;
  readonly solana: string;
}

type KeptKeys = Readonly<Record<keyof SandboxWallets, Keys>>;

const createKeys = (): Keys => ({
  evm: generatePrivateKey(),
  solana: base58.encode(Keypair.generate().secretKey),
});

function readKept(path: string): KeptKeys | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as KeptKeys;
  } catch (error) {
    if (error instanceof SyntaxError) throw spoilt(path, error);
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(path, error);
  }
}

/** Writes the keys to a file that only the user can read. */
function keep(path: string, keys: KeptKeys): KeptKeys {
  try {
    makeFolder(join(path, ".."));
    writeFileSync(path, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw unusable(path, error);
  }
  return keys;
}

function toWallet({ evm, solana }: Keys): Wallet {
  const address = Keypair.fromSecretKey(base58.decode(solana)).publicKey.toBase58();
  return { evm: { address: privateKeyToAddress(evm), privateKey: evm }, solana: { address, secretKey: solana } };
}

const spoilt = (path: string, cause: unknown): Problem =>
  new Problem("unavailable", `${path} does not hold the sandbox's keys: delete it to begin with new ones`, { cause });

function unusable(path: string, cause: unknown): Problem {
  const why = (cause as Error).message;
  const right = "name a directory that can be written to in PAYPHONE_DATA_DIR";
  return new Problem("unavailable", `The sandbox cannot keep its keys in ${path} (${why}): ${right}`, { cause });
}
