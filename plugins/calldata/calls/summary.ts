import { formatUnits } from "viem/utils";
import { isWeth, type Summarize, say, toAllowance, toAmount, type Values } from "./amounts.ts";
import type { InnerCall } from "./inner-call.ts";
import { PERMIT2_SUMMARIES } from "./permit2.ts";
import { ROUTER_SUMMARIES } from "./router-summary.ts";

const transferFrom: Summarize = ([from, to, units], token) =>
  say(toAmount(token, units), (amount) => `transfer ${amount} from ${from} to ${to}`);
const permit: Summarize = ([owner, spender, units], token) =>
  say(toAllowance(token, units), (amount) => `allow ${spender} to spend ${amount} of ${owner}`);

export const TOKEN_SUMMARIES: Readonly<Record<string, Summarize>> = {
  "transfer(address,uint256)": ([to, units], token) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} to ${to}`),
  "transferFrom(address,address,uint256)": transferFrom,
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)": transferFrom,
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)": transferFrom,
  "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)": transferFrom,
  "receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)": transferFrom,
  "approve(address,uint256)": ([spender, units], token) =>
    say(toAllowance(token, units), (amount) => `allow ${spender} to spend ${amount}`),
  "increaseAllowance(address,uint256)": ([spender, units], token) =>
    say(toAllowance(token, units), (amount) => `allow ${spender} to spend ${amount} more`),
  "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)": permit,
  "permit(address,address,uint256,uint256,bytes)": permit,
  // DAI's, with a nonce and an expiry: all or nothing.
  "permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)": ([owner, spender, , , isAllowed], token) =>
    permit([owner, spender, isAllowed ? 2n ** 256n - 1n : 0n], token, null),
  "withdraw(uint256)": ([units], token) =>
    isWeth(token) ? `unwrap ${formatUnits(units as bigint, 18)} WETH` : undefined,
  "deposit()": (_, token, wei) => (isWeth(token) && wei !== null ? `wrap ${formatUnits(wei, 18)} ETH` : undefined),
};

const FUNCTION_SUMMARIES = { ...TOKEN_SUMMARIES, ...PERMIT2_SUMMARIES };

/**
 * The call in words with its amounts; null for other functions, unknown tokens, a DELEGATECALL and what is never run. Only
 * a command of the router is told as one: any contract can name a function like it.
 */
export function summarize(
  signature: string | null,
  values: Values,
  { target, wei, isDelegate = false, isRefused = false, command }: Omit<InnerCall, "data">,
): string | null {
  if (signature === null || isDelegate || isRefused) return null;
  const summaries: Readonly<Record<string, Summarize>> = command ? ROUTER_SUMMARIES : FUNCTION_SUMMARIES;
  return summaries[signature]?.(values, target, wei) ?? null;
}
