import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";

/** What an EVM chain of one's own is started with. */
export interface EvmChainOptions {
  readonly chainId: number;
  /** The anvil to run; without it the optional package's, else the one on the PATH. */
  readonly bin?: string | undefined;
  /** More arguments, e.g. `["--block-time", "1"]`. Left out: a block for every transaction, at once. */
  readonly args?: readonly string[];
}

/** A running EVM node that holds play money. */
export interface EvmChain {
  readonly chainId: number;
  readonly url: string;
  readonly pid: number;
  /** One JSON-RPC call. @throws Problem `upstream-failed` with the node's words, revert texts included. */
  rpc(method: string, params: readonly unknown[]): Promise<unknown>;
  setBalance(address: Hex, wei: bigint): Promise<void>;
  /** A call of a contract by the node's own account, mined at once also when blocks come by the clock. */
  transact(to: Hex, data: Hex): Promise<EvmReceipt>;
  /** Ends the node and waits until it is gone. */
  stop(): Promise<void>;
}

/** What became of a transaction. */
export interface EvmReceipt {
  readonly status: "0x0" | "0x1";
  readonly logs: readonly { readonly topics: [Hex, ...Hex[]]; readonly data: Hex }[];
}

/**
 * Starts anvil on loopback. It dies with this process, however this process dies.
 * @throws Problem `unavailable` when there is no anvil, or when it does not start.
 */
export async function startEvmChain({ chainId, bin, args = [] }: EvmChainOptions): Promise<EvmChain> {
  const child = spawnTied(bin ?? packagedAnvil() ?? "anvil", [
    ...["--host", "127.0.0.1", "--port", "0", "--chain-id", String(chainId), "--accounts", "1"],
    ...[...HISTORY, ...args],
  ]);
  const gone = Promise.withResolvers<void>();
  child.once("close", () => gone.resolve());
  const url = await whenListening(child);
  const rpc = createRpc(url);
  return {
    chainId,
    url,
    pid: child.pid!,
    rpc,
    setBalance: async (address, wei) => void (await rpc("anvil_setBalance", [address, `0x${wei.toString(16)}`])),
    transact: (to, data) => transact(rpc, to, data),
    stop: async () => {
      child.kill("SIGKILL");
      await gone.promise;
    },
  };
}

/** anvil keeps every block's state, on disk from the 500th on; here nobody asks for any but the newest. */
const HISTORY = ["--prune-history", "8"];

const HOW_TO_GET_ANVIL =
  " The sandbox needs anvil: run `npm install` with optional packages (Linux on x86-64), " +
  "or install it from https://getfoundry.sh and put it on the PATH or name it in ANVIL_BIN.";

/** What a shell ends with when there is no such program. */
const NOT_FOUND = 127;

/** Becomes the program; the shell it leaves behind waits for the pipe on descriptor 3, which closes when we die. */
const TIED = '(read -r _ <&3; kill -9 $$) >/dev/null 2>&1 & exec "$@" 3<&-';

/** In a session of its own, so that Ctrl-C reaches the parent alone, which then stops things in order. */
function spawnTied(program: string, args: readonly string[]): ChildProcess {
  const child = spawn("sh", ["-c", TIED, "sh", program, ...args], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    detached: true,
  });
  child.once("exit", () => child.stdio[3]?.destroy());
  return child;
}

function packagedAnvil(): string | undefined {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  try {
    return createRequire(import.meta.url).resolve(`@foundry-rs/anvil-${process.platform}-${arch}/bin/anvil`);
  } catch {
    return undefined;
  }
}

/** The URL, as soon as anvil says it; its later words are read and dropped, so that its pipe never fills. */
function whenListening(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = "";
  let complaint = "";
  const listen = (chunk: Buffer): void => {
    said += chunk;
    const address = /^Listening on (\S+)$/m.exec(said)?.[1];
    if (!address) return;
    child.stdout?.off("data", listen).resume();
    child.stderr?.off("data", complain).resume();
    resolve(`http://${address}`);
  };
  const complain = (chunk: Buffer): void => {
    complaint += chunk;
  };
  const fail = (cause: string, advice = ""): void =>
    reject(new Problem("unavailable", `anvil did not start: ${complaint.trim() || cause}.${advice}`));
  child.stdout?.on("data", listen);
  child.stderr?.on("data", complain);
  child.once("error", ({ message }) => fail(message, HOW_TO_GET_ANVIL));
  child.once("close", (code) => fail(`it ended with code ${code}`, code === NOT_FOUND ? HOW_TO_GET_ANVIL : ""));
  return promise;
}

function createRpc(url: string): EvmChain["rpc"] {
  const headers = { "content-type": "application/json" };
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, { method: "POST", headers, body }).catch((cause: unknown) => {
      throw new Problem("upstream-failed", `${method}: anvil does not answer`, { cause });
    });
    const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (answer.error) throw new Problem("upstream-failed", `${method}: ${answer.error.message}`);
    return answer.result;
  };
}

async function transact(rpc: EvmChain["rpc"], to: Hex, data: Hex): Promise<EvmReceipt> {
  const [from] = (await rpc("eth_accounts", [])) as [Hex];
  const hash = await rpc("eth_sendTransaction", [{ from, to, data }]);
  for (let attempt = 0; attempt < 100; attempt++) {
    const receipt = (await rpc("eth_getTransactionReceipt", [hash])) as EvmReceipt | null;
    if (receipt) return receipt;
    await rpc("evm_mine", []);
  }
  throw new Problem("upstream-failed", `anvil does not mine ${hash}`);
}
