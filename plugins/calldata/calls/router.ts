import type { InnerCall } from "./inner-call.ts";

/** A command that contains further commands. */
export const SUB_PLAN = "EXECUTE_SUB_PLAN(bytes,bytes[])";

const TRANSFER_DETAILS = "(address,address,uint160,address)";
const DEPOSIT = "(address,address,address,address,uint256,uint256,uint256,address,uint32,uint32,uint32,bytes,bool)";

/** The commands of Uniswap's Universal Router (v1 and v2), with the types of their inputs. */
const COMMANDS: Readonly<Record<number, readonly string[]>> = {
  0: swap("V3_SWAP_EXACT_IN(address,uint256,uint256,bytes,bool"),
  1: swap("V3_SWAP_EXACT_OUT(address,uint256,uint256,bytes,bool"),
  2: ["PERMIT2_TRANSFER_FROM(address,address,uint160)"],
  3: ["PERMIT2_PERMIT_BATCH(((address,uint160,uint48,uint48)[],address,uint256),bytes)"],
  4: ["SWEEP(address,address,uint256)"],
  5: ["TRANSFER(address,address,uint256)"],
  6: ["PAY_PORTION(address,address,uint256)"],
  7: ["PAY_PORTION_FULL_PRECISION(address,address,uint256)"],
  8: swap("V2_SWAP_EXACT_IN(address,uint256,uint256,address[],bool"),
  9: swap("V2_SWAP_EXACT_OUT(address,uint256,uint256,address[],bool"),
  10: ["PERMIT2_PERMIT(((address,uint160,uint48,uint48),address,uint256),bytes)"],
  11: ["WRAP_ETH(address,uint256)"],
  12: ["UNWRAP_WETH(address,uint256)"],
  13: [`PERMIT2_TRANSFER_FROM_BATCH(${TRANSFER_DETAILS}[])`],
  14: ["BALANCE_CHECK_ERC20(address,address,uint256)"],
  15: ["UNWRAP_WETH_EXACT(address,uint256)"],
  16: ["V4_SWAP(bytes,bytes[])"],
  19: ["V4_INITIALIZE_POOL((address,address,uint24,int24,address),uint160)"],
  33: [SUB_PLAN],
  64: [`ACROSS_V4_DEPOSIT_V3(${DEPOSIT})`],
};
/** Commands whose input is the calldata for a position manager. */
const CALLS: ReadonlySet<number> = new Set([17, 18, 20]);

/** Since v2.1, swaps have least prices of their hops, too. @param start of the signature. */
function swap(start: string): readonly string[] {
  return [`${start})`, `${start},uint256[])`];
}

/** The highest bit allows the command to fail. */
const COMMAND_BITS = 0x7f;
/** The bits that v1 and v2.0 read. */
const OLDER_BITS = 0x3f;

/** One inner call per command; the router runs none unless each has its input. @param commands one byte each. */
export function readCommands(commands: string, inputs: readonly string[]): InnerCall[] {
  const bytes = Buffer.from(commands.slice(2), "hex");
  const isRefused = inputs.length !== bytes.length;
  return inputs.slice(0, bytes.length).map((data, at) => {
    const number = (bytes[at] as number) & COMMAND_BITS;
    const command = [...(COMMANDS[number] ?? []), ...((number > OLDER_BITS && COMMANDS[number & OLDER_BITS]) || [])];
    return { target: null, wei: null, data, isRefused, ...(!CALLS.has(number) && { command }) };
  });
}
