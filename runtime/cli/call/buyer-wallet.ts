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

/** The seller whose wallet is opened. */
export interface Paid {
  readonly base: string;
  /** False when the buyer has said that the seller is no sandbox; otherwise it is asked. */
  readonly mayBeSandbox: boolean;
}

/** How long a seller has to say what it is. Others than payphone may leave a path that they do not know unanswered. */
export const SAY_MS = 10_000;

/**
 * Opens the sandbox's own buyer, or else the keys of the environment. The two never mix: a sandbox's tokens have the
 * addresses of the real ones, so a real key would sign a payment that is also valid on the real chain.
 * @throws Problem `upstream-failed` when the seller does not say whether it is a sandbox.
 */
export async function openWallet(config: Config, seller: Paid, signal: AbortSignal): Promise<BuyerWallet> {
  const { base, mayBeSandbox } = seller;
  const description = mayBeSandbox ? await askForSandbox(base, signal) : undefined;
  if (field(description, "mode") === "sandbox") return toSandboxWallet(description, base);
  const { evmKey, solanaKey } = config.buyer;
  return {
    origin: "environment",
    key: (rail) => (isEvm(rail) ? evmKey : solanaKey),
    rpc: ({ rpc }) => read(rpc, config.env[rpc], WEB_URL),
  };
}

/** What a sandbox says of itself; anything from another seller. @throws Problem `upstream-failed`. */
async function askForSandbox(base: string, signal: AbortSignal): Promise<unknown> {
  const request = { method: "GET", url: `${base}/sandbox`, body: undefined };
  const answer = await ask(request, { signal, timeoutMs: SAY_MS }).catch((error: unknown) => {
    signal.throwIfAborted();
    return Problem.from(error);
  });
  const isSaid = !(answer instanceof Problem) && answer.status < 500 && answer.status !== 429;
  if (isSaid) return answer.status === 200 ? answer.json : undefined;
  const why = answer instanceof Problem ? answer.message : answer.status;
  const how = "use --no-sandbox if you know that it takes real money";
  throw new Problem(
    "upstream-failed",
    `${base} does not say whether it is a sandbox (${why}): ${how}. Nothing was paid.`,
  );
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
