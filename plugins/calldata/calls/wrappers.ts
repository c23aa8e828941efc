import { decodeArguments, toBudget } from "../abi/decode.ts";
import { type FunctionSignature, readSignature, toSelector } from "../abi/signature.ts";
import type { InnerCall } from "./inner-call.ts";
import { DELEGATECALL, readMultiSend } from "./multi-send.ts";
import { PERMIT2_SUMMARIES } from "./permit2.ts";
import { readCommands, SUB_PLAN } from "./router.ts";
import { TOKEN_SUMMARIES } from "./summary.ts";

type Values = readonly unknown[];
/**
 * Finds the inner calls; null where there are some that are not read. @param values as viem decodes them, of the
 * signature's types. @param target of the outer call
 */
type FindCalls = (values: Values, target: string | null) => readonly InnerCall[] | Promise<readonly InnerCall[] | null>;

const call = (target: unknown, data: unknown, wei: unknown = null, operation: unknown = 0): InnerCall => ({
  target: target as string | null,
  data: data as string,
  wei: wei as bigint | null,
  isDelegate: operation === DELEGATECALL,
});
const each = (list: unknown, toCall: (item: Values) => InnerCall): readonly InnerCall[] =>
  (list as Values[]).map(toCall);
const multicall =
  (at: number): FindCalls =>
  (values, target) =>
    (values[at] as string[]).map((data) => call(target, data));

const single: FindCalls = ([target, wei, data]) => [call(target, data, wei)];
/** Accounts and timelocks refuse lists of different lengths. Some accounts take no values at all. */
const lists =
  (mayLackValues: boolean): FindCalls =>
  (values) => {
    const [targets, wei, data] = values as [string[], bigint[], string[]];
    const isWithout = mayLackValues && wei.length === 0;
    const isRefused = data.length !== targets.length || (!isWithout && wei.length !== targets.length);
    return targets.map((target, at) => ({ ...call(target, data[at] ?? "0x", wei[at]), isRefused }));
  };
const batch = lists(true);
const timelock = lists(false);
/** A Safe has two operations, and refuses all others. */
const safe: FindCalls = ([target, wei, data, operation]) => [
  { ...call(target, data, wei, operation), isRefused: Number(operation) > DELEGATECALL },
];
/** Beyond Safe's operations, ERC-6551 has two that create a contract of the data. */
const operation: FindCalls = (values) => (Number(values[3]) > DELEGATECALL ? [] : safe(values, null));
/** Compound's governors and timelocks have a function's signature apart from its arguments, unless it is empty. */
const withSignature = (signature: string, data: string): string =>
  signature === "0x" ? data : `${toSelector(Buffer.from(signature.slice(2), "hex"))}${data.slice(2)}`;
const bravo: FindCalls = ([targets, wei, signatures, data]) => {
  const [texts, all] = [signatures as string[], data as string[]];
  const calls = timelock([targets, wei, all.map((each, at) => withSignature(texts[at] ?? "0x", each))], null);
  return (calls as InnerCall[]).map((inner) => ({
    ...inner,
    isRefused: inner.isRefused || texts.length !== all.length,
  }));
};
const compound: FindCalls = ([target, wei, signature, data]) => [
  call(target, withSignature(signature as string, data as string), wei),
];
const execution: FindCalls = ([mode, data]) => readExecution(mode as string, data as string);
const commands: FindCalls = ([numbers, inputs]) => readCommands(numbers as string, inputs as string[]);

/** 4337: the sender is the called account. */
const userOperations: FindCalls = ([operations]) => each(operations, (operation) => call(operation[0], operation[3]));
const USER_OPERATION_6 = "(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)";
const USER_OPERATION_7 = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)";

/** Functions whose arguments contain calls. */
export const WRAPPERS: Readonly<Record<string, FindCalls>> = {
  // Contracts that call themselves
  "multicall(bytes[])": multicall(0),
  "multicall(uint256,bytes[])": multicall(1),
  "multicall(bytes32,bytes[])": multicall(1),
  // Multicall 1 to 3
  "aggregate((address,bytes)[])": ([calls]) => each(calls, ([target, data]) => call(target, data)),
  "tryAggregate(bool,(address,bytes)[])": ([, calls]) => each(calls, ([target, data]) => call(target, data)),
  "blockAndAggregate((address,bytes)[])": ([calls]) => each(calls, ([target, data]) => call(target, data)),
  "tryBlockAndAggregate(bool,(address,bytes)[])": ([, calls]) => each(calls, ([target, data]) => call(target, data)),
  "aggregate3((address,bool,bytes)[])": ([calls]) => each(calls, ([target, , data]) => call(target, data)),
  "aggregate3Value((address,bool,uint256,bytes)[])": ([calls]) =>
    each(calls, ([target, , wei, data]) => call(target, data, wei)),
  // Safe
  "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)": safe,
  "execTransactionFromModule(address,uint256,bytes,uint8)": safe,
  "execTransactionFromModuleReturnData(address,uint256,bytes,uint8)": safe,
  "multiSend(bytes)": ([packed]) => readMultiSend(packed as string),
  // Accounts (ERC-4337, ERC-6551, ERC-7579) and timelocks
  "execute(address,uint256,bytes)": single,
  "executeBatch(address[],bytes[])": ([targets, data]) => batch([targets, [], data], null),
  "executeBatch(address[],uint256[],bytes[])": batch,
  "executeBatch((address,uint256,bytes)[])": ([calls]) => each(calls, ([target, wei, data]) => call(target, data, wei)),
  "execute(address,uint256,bytes,uint8)": operation,
  "executeUserOp(address,uint256,bytes,uint8)": operation,
  "executeUserOpWithErrorString(address,uint256,bytes,uint8)": operation,
  "execute(bytes32,bytes)": execution,
  "executeFromExecutor(bytes32,bytes)": execution,
  "schedule(address,uint256,bytes,bytes32,bytes32,uint256)": single,
  "scheduleBatch(address[],uint256[],bytes[],bytes32,bytes32,uint256)": timelock,
  "execute(address,uint256,bytes,bytes32,bytes32)": single,
  "executeBatch(address[],uint256[],bytes[],bytes32,bytes32)": timelock,
  "upgradeToAndCall(address,bytes)": ([, data], target) => [call(target, data)],
  [`handleOps(${USER_OPERATION_6}[],address)`]: userOperations,
  [`handleOps(${USER_OPERATION_7}[],address)`]: userOperations,
  "upgradeAndCall(address,address,bytes)": ([proxy, , data]) => [call(proxy, data)],
  // Governors (OpenZeppelin, Compound) and Compound's timelock
  "propose(address[],uint256[],bytes[],string)": timelock,
  "queue(address[],uint256[],bytes[],bytes32)": timelock,
  "execute(address[],uint256[],bytes[],bytes32)": timelock,
  "propose(address[],uint256[],string[],bytes[],string)": bravo,
  "queueTransaction(address,uint256,string,bytes,uint256)": compound,
  "executeTransaction(address,uint256,string,bytes,uint256)": compound,
  // Uniswap's Universal Router
  "execute(bytes,bytes[],uint256)": commands,
  "execute(bytes,bytes[])": commands,
  "executeSigned(bytes,bytes[],bytes32,bytes32,bool,bytes32,bytes,uint256)": commands,
  [SUB_PLAN]: commands,
};

/** Functions that calls often lead to. */
const COMMON_FUNCTIONS = [
  ...Object.keys(TOKEN_SUMMARIES),
  ...Object.keys(PERMIT2_SUMMARIES),
  "setApprovalForAll(address,bool)",
  "balanceOf(address)",
  "allowance(address,address)",
  "decimals()",
];

/**
 * Signatures by selector that are used without a directory. For inner calls only, because a directory also knows other
 * candidates.
 */
export const KNOWN_SIGNATURES: ReadonlyMap<string, string> = new Map(
  [...COMMON_FUNCTIONS, ...Object.keys(WRAPPERS)].map((signature) => [toSelector(signature), signature]),
);

const BATCH = readSignature("batch((address,uint256,bytes)[])") as FunctionSignature; // Always valid.
const BATCHES = readSignature("batches(bytes[])") as FunctionSignature;
/** The bytes 7 to 10 of a mode that means a batch of batches (ERC-7821). */
const OF_BATCHES = "78210002";

/**
 * An account's execution (ERC-7579, ERC-7821). The first byte of the mode tells whether it is one call, several, or a
 * DELEGATECALL.
 */
async function readExecution(mode: string, data: string): Promise<readonly InnerCall[] | null> {
  const kind = mode.slice(2, 4);
  if (kind === "01") return readBatches(data, mode.slice(14, 22) === OF_BATCHES);
  if (data.length < 2 + 2 * (20 + (kind === "00" ? 32 : 0))) return [];
  const target = data.slice(0, 42);
  if (kind === "00") return [call(target, `0x${data.slice(106)}`, BigInt(`0x${data.slice(42, 106)}`))];
  return kind === "ff" ? [call(target, `0x${data.slice(42)}`, null, DELEGATECALL)] : [];
}

async function readBatches(data: string, isOfBatches: boolean): Promise<readonly InnerCall[] | null> {
  const budget = toBudget(Buffer.from(data.slice(2), "hex"));
  const read = async (signature: FunctionSignature, encoded: string): Promise<Values> => {
    const decoded = await decodeArguments(signature, Buffer.from(encoded.slice(2), "hex"), budget);
    return (decoded?.values[0] ?? []) as Values;
  };
  const calls: InnerCall[] = [];
  for (const batch of isOfBatches ? await read(BATCHES, data) : [data])
    calls.push(...each(await read(BATCH, batch as string), ([target, wei, inner]) => call(target, inner, wei)));
  return budget.left < 0 ? null : calls;
}
