import { formatUnits } from "viem/utils";
import { tokenAt } from "./tokens.ts";

type Values = readonly unknown[];
/** The call in words; undefined when its token is not known. */
type Summarize = (values: Values, target: string | null, wei: bigint | null) => string | undefined;

/** Allowances from here on are meant to be unlimited. */
const UNLIMITED = 2n ** 159n;

/** An amount in words: `1.5 USDC`. */
function toAmount(token: unknown, units: unknown): string | undefined {
  const known = tokenAt(token);
  if (!known || typeof units !== "bigint") return undefined;
  return units >= UNLIMITED ? `unlimited ${known.symbol}` : `${formatUnits(units, known.decimals)} ${known.symbol}`;
}

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
  const [input, output] = [toAmount(from, paid), toAmount(to, got)];
  return input === undefined || output === undefined ? undefined : `swap ${pay}${input} for ${get}${output}`;
}

const listEnds = (list: unknown): readonly unknown[] => [(list as Values)[0], (list as Values).at(-1)];
const IN = ["", "at least "] as const;
const OUT = ["at most ", ""] as const;

const SUMMARIES: Readonly<Record<string, Summarize>> = {
  "transfer(address,uint256)": ([to, units], token) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} to ${to}`),
  "transferFrom(address,address,uint256)": ([from, to, units], token) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} from ${from} to ${to}`),
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)": authorized,
  "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)": authorized,
  "approve(address,uint256)": ([spender, units], token) =>
    say(toAmount(token, units), (amount) => `allow ${spender} to spend ${amount}`),
  "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)": ([owner, spender, units], token) =>
    say(toAmount(token, units), (amount) => `allow ${spender} to spend ${amount} of ${owner}`),
  "withdraw(uint256)": ([units], token) => say(toAmount(token, units), (amount) => `unwrap ${amount}`),
  "deposit()": (_, token, wei) =>
    tokenAt(token)?.symbol === "WETH" && wei !== null ? `wrap ${formatUnits(wei, 18)} ETH` : undefined,
  "V3_SWAP_EXACT_IN(address,uint256,uint256,bytes,bool)": ([, paid, got, path]) =>
    toSwap(endsOf(path), [paid, got], IN),
  "V3_SWAP_EXACT_OUT(address,uint256,uint256,bytes,bool)": ([, got, paid, path]) =>
    toSwap(endsOf(path).reverse(), [paid, got], OUT),
  "V2_SWAP_EXACT_IN(address,uint256,uint256,address[],bool)": ([, paid, got, path]) =>
    toSwap(listEnds(path), [paid, got], IN),
  "V2_SWAP_EXACT_OUT(address,uint256,uint256,address[],bool)": ([, got, paid, path]) =>
    toSwap(listEnds(path), [paid, got], OUT),
  "TRANSFER(address,address,uint256)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} to ${to}`),
  "SWEEP(address,address,uint256)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `send all, at least ${amount}, to ${to}`),
  "PERMIT2_TRANSFER_FROM(address,address,uint160)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} to ${to}`),
  "WRAP_ETH(address,uint256)": ([, units]) => `wrap ${formatUnits(units as bigint, 18)} ETH`,
  "UNWRAP_WETH(address,uint256)": ([to, units]) => `unwrap at least ${formatUnits(units as bigint, 18)} WETH for ${to}`,
};

function authorized([from, to, units]: Values, token: string | null): string | undefined {
  return say(toAmount(token, units), (amount) => `transfer ${amount} from ${from} to ${to}`);
}

/** The call in words with its amounts; null for other functions and unknown tokens. */
export const summarize = (
  signature: string | null,
  values: Values,
  { target, wei }: { readonly target: string | null; readonly wei: bigint | null },
): string | null => (signature === null ? null : (SUMMARIES[signature]?.(values, target, wei) ?? null));
