import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";

/** How to start an embedded EVM chain. */
export interface EvmChainOptions {
  readonly chainId: number;
  /** Path of the anvil binary; by default the optional package's, otherwise the one on the PATH. */
  readonly bin?: string | undefined;
  /** Additional arguments, e.g. `["--block-time", "1"]`. By default each transaction gets a block at once. */
  readonly args?: readonly string[];
}

/** A running EVM node with play money. */
export interface EvmChain {
  readonly chainId: number;
  readonly url: string;
  readonly pid: number;
  /** One JSON-RPC call. @throws Problem `upstream-failed` with the node's message, which includes revert reasons. */
  rpc(method: string, params: readonly unknown[]): Promise<unknown>;
  setBalance(address: Hex, wei: bigint): Promise<void>;
  /** Calls a contract from the node's own account; mined at once even when blocks come at intervals. */
  transact(to: Hex, data: Hex): Promise<EvmReceipt>;
  /** Kills the node and waits until it has ended. */
  stop(): Promise<void>;
}

export interface EvmReceipt {
  readonly status: "0x0" | "0x1";
  readonly logs: readonly { readonly topics: [Hex, ...Hex[]]; readonly data: Hex }[];
}

/**
 * Starts anvil on loopback. It ends with this process, even when this process is killed.
 * @throws Problem `unavailable` when there is no anvil, or when it does not start.
 */
export async function startEvmChain({ chainId, bin, args = [] }: EvmChainOptions): Promise<EvmChain> {
  const child = spawnTied(bin ?? packagedAnvil() ?? "anvil", [
    "--host",
    "127.0.0.1",
    "--port",
    "0",
    "--chain-id",
    String(chainId),
    "--accounts",
    "1",
    ...HISTORY,
    ...args,
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

/** Keeps the state of 8 blocks only. By default anvil keeps all of them, and writes them to disk after 500 blocks. */
const HISTORY = ["--prune-history", "8"];

const HOW_TO_GET_ANVIL =
  " The sandbox needs anvil, an optional package on Linux (x86-64): install without --omit=optional. Elsewhere " +
  "install it from https://getfoundry.sh and put it on the PATH or name it in ANVIL_BIN.";

/** A shell's exit code when the program does not exist. */
const NOT_FOUND = 127;

/**
 * Runs the program with `exec`. A background shell reads descriptor 3, which closes when this process ends; the shell
 * then kills the program.
 */
const TIED = '(read -r _ <&3; kill -9 $$) >/dev/null 2>&1 & exec "$@" 3<&-';

/** The child gets its own session, so that Ctrl-C reaches only this process, which then stops everything in order. */
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

/** The URL, once anvil prints it. Later output is read and dropped, so that the pipe never fills. */
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
  const fail = (cause: string, advice: string): void =>
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
