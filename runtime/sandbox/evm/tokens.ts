import { decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from "viem";
import { Problem } from "../../api/problem.ts";
import { MULTICALL3 } from "../../drivers/facilitator/deployment.ts";
import multicall3 from "../contracts/Multicall3.bytecode.json" with { type: "json" };
import sandboxToken from "../contracts/SandboxToken.bytecode.json" with { type: "json" };
import type { EvmChain } from "./chain.ts";

/** A token to place. `name` and `version` are those of its EIP-712 domain. */
export interface TokenOptions {
  readonly address: string;
  readonly name: string;
  readonly symbol: string;
  readonly version: string;
  readonly decimals: number;
}

/** A play-money token, controlled by its owner. Amounts are in atomic units. */
export interface Token {
  readonly address: Hex;
  mint(to: string, amount: bigint): Promise<void>;
  balanceOf(account: string): Promise<bigint>;
  /** While the token is paused, transfers revert. */
  setPaused(paused: boolean): Promise<void>;
  setBlacklisted(account: string, blacklisted: boolean): Promise<void>;
}

/**
 * Puts a token that behaves like USDC's FiatToken 2.2 at this address, and Multicall3 at its well-known address, where
 * the x402 facilitator expects it. @throws Problem `upstream-failed` with the node's message.
 */
export async function placeToken(chain: EvmChain, { address, ...token }: TokenOptions): Promise<Token> {
  const at = address as Hex;
  await Promise.all([
    chain.rpc("anvil_setCode", [at, sandboxToken.runtimeBytecode.SandboxToken]),
    chain.rpc("anvil_setCode", [MULTICALL3, multicall3.runtimeBytecode.Multicall3]),
  ]);
  const order = async (data: Hex): Promise<void> => {
    const { status } = await chain.transact(at, data);
    if (status !== "0x1")
      throw new Problem("upstream-failed", `The token at ${at} did not carry out its owner's order`);
  };
  const { name, symbol, version, decimals } = token;
  await order(encodeFunctionData({ abi, functionName: "initialize", args: [name, symbol, version, decimals] }));
  return {
    address: at,
    mint: (to, amount) => order(encodeFunctionData({ abi, functionName: "mint", args: [to as Hex, amount] })),
    balanceOf: async (account) => {
      const data = encodeFunctionData({ abi, functionName: "balanceOf", args: [account as Hex] });
      const answer = (await chain.rpc("eth_call", [{ to: at, data }, "latest"])) as Hex;
      return decodeFunctionResult({ abi, functionName: "balanceOf", data: answer });
    },
    setPaused: (paused) => order(encodeFunctionData({ abi, functionName: "setPaused", args: [paused] })),
    setBlacklisted: (account, blacklisted) =>
      order(encodeFunctionData({ abi, functionName: "setBlacklisted", args: [account as Hex, blacklisted] })),
  };
}

const abi = parseAbi([
  "function initialize(string name, string symbol, string version, uint8 decimals)",
  "function mint(address to, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function setPaused(bool paused)",
  "function setBlacklisted(address account, bool blacklisted)",
]);
