import type { InnerCall } from "./inner-call.ts";

/** A command that contains further commands. */
export const SUB_PLAN = "EXECUTE_SUB_PLAN(bytes,bytes[])";

/** The commands of Uniswap's Universal Router (v1 and v2), with the types of their inputs. */
const COMMANDS: Readonly<Record<number, string>> = {
  0: "V3_SWAP_EXACT_IN(address,uint256,uint256,bytes,bool)",
  1: "V3_SWAP_EXACT_OUT(address,uint256,uint256,bytes,bool)",
  2: "PERMIT2_TRANSFER_FROM(address,address,uint160)",
  3: "PERMIT2_PERMIT_BATCH((((address,uint160,uint48,uint48)[],address,uint256),bytes))",
  4: "SWEEP(address,address,uint256)",
  5: "TRANSFER(address,address,uint256)",
  6: "PAY_PORTION(address,address,uint256)",
  8: "V2_SWAP_EXACT_IN(address,uint256,uint256,address[],bool)",
  9: "V2_SWAP_EXACT_OUT(address,uint256,uint256,address[],bool)",
  10: "PERMIT2_PERMIT(((address,uint160,uint48,uint48),address,uint256),bytes)",
  11: "WRAP_ETH(address,uint256)",
  12: "UNWRAP_WETH(address,uint256)",
  14: "BALANCE_CHECK_ERC20(address,address,uint256)",
  16: "V4_SWAP(bytes,bytes[])",
  33: SUB_PLAN,
};
/** The highest bit allows the command to fail; the next one is reserved. */
const COMMAND_BITS = 0x3f;

/** One inner call per command. @param commands one byte each. */
export function readCommands(commands: string, inputs: readonly string[]): InnerCall[] {
  const bytes = Buffer.from(commands.slice(2), "hex");
  return inputs.slice(0, bytes.length).map((data, at) => {
    const number = (bytes[at] as number) & COMMAND_BITS;
    const command = COMMANDS[number] ?? `COMMAND_${number.toString(16).padStart(2, "0")}`;
    return { target: null, wei: null, data, command };
  });
}
