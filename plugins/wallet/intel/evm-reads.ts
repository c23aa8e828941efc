import type { Upstream } from "#plugin";
import { askNode, toMisfit } from "../node.ts";
import { toDecimalText } from "./amounts.ts";

/** USDC's address on Base, EIP-55. */
export const USDC_ON_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const USDC_DECIMALS = 6;
const ETHER_DECIMALS = 18;
/** The selector of ERC-20's `balanceOf(address)` and the zeros before the address. */
const BALANCE_OF = `0x70a08231${"0".repeat(24)}`;
const QUANTITY = /^0x[0-9a-f]{1,64}$/i;
/** No balance has as much: it is hundreds of times all ETH in wei. */
const TOO_MUCH = 2n ** 96n;

/** The balance in ETH. @param address 0x-prefixed, in lower case. */
export const readEther = async (node: Upstream, address: string, signal: AbortSignal): Promise<string> =>
  toDecimalText(await readQuantity(node, ["eth_getBalance", [address, "latest"]], signal), ETHER_DECIMALS);

export async function readUsdcOnBase(node: Upstream, address: string, signal: AbortSignal): Promise<string> {
  const call = { to: USDC_ON_BASE, data: `${BALANCE_OF}${address.slice(2)}` };
  return toDecimalText(await readQuantity(node, ["eth_call", [call, "latest"]], signal), USDC_DECIMALS);
}

/** The number of transactions that the address has sent (its nonce). */
export async function readTransactionCount(node: Upstream, address: string, signal: AbortSignal): Promise<number> {
  const method = "eth_getTransactionCount";
  const count = Number(await readQuantity(node, [method, [address, "latest"]], signal));
  if (!Number.isSafeInteger(count)) throw toMisfit(node, method);
  return count;
}

async function readQuantity(node: Upstream, call: Parameters<typeof askNode>[1], signal: AbortSignal): Promise<bigint> {
  const result = await askNode(node, call, signal);
  if (typeof result !== "string" || !QUANTITY.test(result) || BigInt(result) >= TOO_MUCH) throw toMisfit(node, call[0]);
  return BigInt(result);
}
