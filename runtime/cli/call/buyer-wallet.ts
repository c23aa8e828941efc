import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { Problem } from "../../api/problem.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import type { Config } from "../config/config.ts";
import { EVM_KEY, SOLANA_KEY } from "../config/key-values.ts";
import { createReader } from "../config/reader.ts";
import { type ValueFormat, WEB_URL } from "../config/values.ts";
import { ask, field, textField } from "./http.ts";

/** The buyer's keys, and the RPC URLs of the chains. */
export interface BuyerWallet {
  /** Where the keys come from: the sandbox, or the caller's own variables. */
  readonly origin: "sandbox" | "environment";
  /** The private key for this rail; undefined when there is none. */
  key(rail: RailManifest): string | undefined;
  /** The chain's RPC URL; undefined = the SDK's default. */
  rpc(rail: RailManifest): string | undefined | Promise<string | undefined>;
}

/**
 * Opens the sandbox's own buyer, or else the keys of the environment. The two never mix: a sandbox's tokens have the
 * addresses of the real ones, so a real key would sign a payment that is also valid on the real chain.
 * @throws Problem `upstream-failed` when the seller does not say whether it is a sandbox.
 */
export async function openWallet(config: Config, base: string, signal: AbortSignal): Promise<BuyerWallet> {
  const { status, json } = await ask({ method: "GET", url: `${base}/sandbox`, body: undefined }, { signal });
  if (status >= 500 || status === 429)
    throw new Problem("upstream-failed", `${base} does not say whether it is a sandbox (${status}). Nothing was paid.`);
  if (status === 200 && field(json, "mode") === "sandbox") return toSandboxWallet(json, base);
  const { evmKey, solanaKey } = config.buyer;
  return {
    origin: "environment",
    key: (rail) => (isEvm(rail) ? evmKey : solanaKey),
    rpc: ({ rpc }) => read(rpc, config.env[rpc], WEB_URL),
  };
}

/** The wallet in the answer of `GET /sandbox`. The seller may be none: its RPC URLs must not lead into the buyer's network. */
function toSandboxWallet(json: unknown, base: string): BuyerWallet {
  const buyer = field(json, "buyer");
  const evmKey = textField(field(buyer, "evm"), "private_key");
  const solanaKey = textField(field(buyer, "solana"), "secret_key");
  return {
    origin: "sandbox",
    key: (rail) =>
      isEvm(rail)
        ? read("the sandbox's EVM key", evmKey, EVM_KEY)
        : read("the sandbox's Solana key", solanaKey, SOLANA_KEY),
    rpc: async ({ id }) => {
      const url = read("the sandbox's RPC URL", textField(field(json, "rpc"), id), WEB_URL);
      if (url === undefined || (await areNear(new URL(url).hostname, new URL(base).hostname))) return url;
      throw new Problem("bad-request", `the sandbox's RPC URL, ${url}, is on another host than it. Nothing was paid.`);
    },
  };
}

/** Whether two hosts are the same, or both this machine. */
const areNear = async (one: string, other: string): Promise<boolean> =>
  one === other || (await Promise.all([one, other].map(isHere))).every(Boolean);

async function isHere(host: string): Promise<boolean> {
  const { address } = await lookup(host.replace(/^\[|\]$/g, "")).catch(() => ({ address: "" }));
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address));
  return address.startsWith("127.") || own.includes(address);
}

function read<T>(name: string, text: string | undefined, shape: ValueFormat<T>): T | undefined {
  const { value, faults } = createReader({ [name]: text }, () => "");
  const found = value(name, shape);
  if (faults[0] !== undefined) throw new Problem("bad-request", `${faults[0]}. Nothing was paid.`);
  return found;
}
