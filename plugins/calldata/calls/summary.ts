import { formatUnits } from "viem/utils";
import type { InnerCall } from "./inner-call.ts";
import { tokenAt } from "./tokens.ts";

type Values = readonly unknown[];
/** The call in words; undefined when its token is not known. */
type Summarize = (values: Values, target: string | null, wei: bigint | null) => string | undefined;

/** Allowances of this size or more are meant to be unlimited. */
const UNLIMITED = 2n ** 159n;

/** An amount in words: `1.5 USDC`. */
function toAmount(token: unknown, units: unknown): string | undefined {
  const known = tokenAt(token);
  return known && typeof units === "bigint" ? `${formatUnits(units, known.decimals)} ${known.symbol}` : undefined;
}

function toAllowance(token: unknown, units: unknown): string | undefined {
  return typeof units === "bigint" && units >= UNLIMITED
    ? say(tokenAt(token)?.symbol, (symbol) => `unlimited ${symbol}`)
    : toAmount(token, units);
}

/** Uniswap's router takes this amount to mean its whole balance. */
const WHOLE_BALANCE = 2n ** 255n;

function toRouterAmount(token: unknown, units: unknown): string | undefined {
  return units === WHOLE_BALANCE
    ? say(tokenAt(token)?.symbol, (symbol) => `all ${symbol} of the router`)
    : toAmount(token, units);
}

/** Uniswap's router takes the addresses 1 and 2 as its caller and itself. */
const toRecipient = (address: unknown): string =>
  /^0x0{39}1$/.test(String(address))
    ? "the caller"
    : /^0x0{39}2$/.test(String(address))
      ? "the router"
      : String(address);

const say = (amount: string | undefined, toText: (amount: string) => string): string | undefined =>
  amount === undefined ? undefined : toText(amount);

/** First and last token of a V3 path: addresses of 20 bytes with fees of 3 bytes between them. */
const endsOf = (path: unknown): [string, string] => {
  const digits = String(path).slice(2);
  return [`0x${digits.slice(0, 40)}`, `0x${digits.slice(-40)}`];
};

function toSwap(
  [from, to]: readonly unknown[],
  [paid, got]: readonly unknown[],
  [pay, get]: readonly [string, string],
) {
  const [input, output] = [toRouterAmount(from, paid), toAmount(to, got)];
  return input === undefined || output === undefined ? undefined : `swap ${pay}${input} for ${get}${output}`;
}

const listEnds = (list: unknown): readonly unknown[] => [(list as Values)[0], (list as Values).at(-1)];
const IN = ["", "at least "] as const;
const OUT = ["at most ", ""] as const;

const isWeth = (token: unknown): boolean => tokenAt(token)?.symbol === "WETH";

const SUMMARIES: Readonly<Record<string, Summarize>> = {
  "transfer(address,uint256)": ([to, units], token) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} to ${to}`),
  "transferFrom(address,address,uint256)": ([from, to, units], token) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} from ${from} to ${to}`),
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)": authorized,
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)": authorized,
  "approve(address,uint256)": ([spender, units], token) =>
    say(toAllowance(token, units), (amount) => `allow ${spender} to spend ${amount}`),
  "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)": ([owner, spender, units], token) =>
    say(toAllowance(token, units), (amount) => `allow ${spender} to spend ${amount} of ${owner}`),
  "withdraw(uint256)": ([units], token) =>
    isWeth(token) ? `unwrap ${formatUnits(units as bigint, 18)} WETH` : undefined,
  "deposit()": (_, token, wei) => (isWeth(token) && wei !== null ? `wrap ${formatUnits(wei, 18)} ETH` : undefined),
  "V3_SWAP_EXACT_IN(address,uint256,uint256,bytes,bool)": ([, paid, got, path]) =>
    toSwap(endsOf(path), [paid, got], IN),
  "V3_SWAP_EXACT_OUT(address,uint256,uint256,bytes,bool)": ([, got, paid, path]) =>
    toSwap(endsOf(path).reverse(), [paid, got], OUT),
  "V2_SWAP_EXACT_IN(address,uint256,uint256,address[],bool)": ([, paid, got, path]) =>
    toSwap(listEnds(path), [paid, got], IN),
  "V2_SWAP_EXACT_OUT(address,uint256,uint256,address[],bool)": ([, got, paid, path]) =>
    toSwap(listEnds(path), [paid, got], OUT),
  "TRANSFER(address,address,uint256)": ([token, to, units]) =>
    say(toRouterAmount(token, units), (amount) => `transfer ${amount} to ${toRecipient(to)}`),
  "SWEEP(address,address,uint256)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `send all, at least ${amount}, to ${toRecipient(to)}`),
  "PERMIT2_TRANSFER_FROM(address,address,uint160)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} of the caller to ${toRecipient(to)}`),
  "WRAP_ETH(address,uint256)": ([, units]) =>
    units === WHOLE_BALANCE ? "wrap all ETH of the router" : `wrap ${formatUnits(units as bigint, 18)} ETH`,
  "UNWRAP_WETH(address,uint256)": ([to, units]) =>
    `unwrap at least ${formatUnits(units as bigint, 18)} WETH for ${toRecipient(to)}`,
};

function authorized([from, to, units]: Values, token: string | null): string | undefined {
  return say(toAmount(token, units), (amount) => `transfer ${amount} from ${from} to ${to}`);
}

/** The call in words with its amounts; null for other functions, unknown tokens and a DELEGATECALL. */
export const summarize = (
  signature: string | null,
  values: Values,
  { target, wei, isDelegate = false }: Pick<InnerCall, "target" | "wei" | "isDelegate">,
): string | null => (signature === null || isDelegate ? null : (SUMMARIES[signature]?.(values, target, wei) ?? null));
