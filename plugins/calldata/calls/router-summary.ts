import { formatUnits } from "viem/utils";
import { type Summarize, say, sayAll, toAmount, type Values } from "./amounts.ts";
import { toPermits, toTransfer } from "./permit2.ts";
import { tokenAt } from "./tokens.ts";

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

/**
 * First and last token of a V3 path: addresses of 20 bytes with fees of 3 bytes between them. None of any other: the router
 * refuses one that is too short, and does not read what is too much.
 */
const endsOf = (path: unknown): Values => {
  const [, first, last] = /^0x(.{40})(?:.{46})*.{6}(.{40})$/.exec(String(path)) ?? [];
  return first === undefined ? [] : [`0x${first}`, `0x${last}`];
};
/** V2's router refuses a path of one token. */
const listEnds = (list: unknown): Values =>
  (list as Values).length < 2 ? [] : [(list as Values)[0], (list as Values).at(-1)];

const toSwap = (input: string | undefined, output: string | undefined, to: unknown): string | undefined =>
  sayAll([input, output]) && `swap ${input} for ${output} to ${toRecipient(to)}`;

/** V2's pairs can have been paid before: the amount is 0 then. */
const PAID = "what the pair was paid";
const atLeast = (token: unknown, units: unknown) => say(toAmount(token, units), (amount) => `at least ${amount}`);
const atMost = (token: unknown, units: unknown) => say(toAmount(token, units), (amount) => `at most ${amount}`);

const v3In: Summarize = ([to, paid, got, path]) => {
  const [from, into] = endsOf(path);
  return toSwap(toRouterAmount(from, paid), atLeast(into, got), to);
};
const v3Out: Summarize = ([to, got, paid, path]) => {
  const [into, from] = endsOf(path); // From the last token to the first.
  return toSwap(atMost(from, paid), toAmount(into, got), to);
};
const v2In: Summarize = ([to, paid, got, path]) => {
  const [from, into] = listEnds(path);
  return toSwap(paid === 0n ? PAID : toRouterAmount(from, paid), atLeast(into, got), to);
};
const v2Out: Summarize = ([to, got, paid, path]) => {
  const [from, into] = listEnds(path);
  return toSwap(atMost(from, paid), toAmount(into, got), to);
};

/** Nothing in a command tells its chain, and the router is on some whose coin is not ETH. */
const COIN = "ETH (or the chain's own coin)";
const WRAPPED = "WETH (or the chain's own coin, wrapped)";
const toCoin = (units: unknown): string => formatUnits(units as bigint, 18);

/** Commands of the Universal Router. */
export const ROUTER_SUMMARIES: Readonly<Record<string, Summarize>> = {
  "V3_SWAP_EXACT_IN(address,uint256,uint256,bytes,bool)": v3In,
  "V3_SWAP_EXACT_IN(address,uint256,uint256,bytes,bool,uint256[])": v3In,
  "V3_SWAP_EXACT_OUT(address,uint256,uint256,bytes,bool)": v3Out,
  "V3_SWAP_EXACT_OUT(address,uint256,uint256,bytes,bool,uint256[])": v3Out,
  "V2_SWAP_EXACT_IN(address,uint256,uint256,address[],bool)": v2In,
  "V2_SWAP_EXACT_IN(address,uint256,uint256,address[],bool,uint256[])": v2In,
  "V2_SWAP_EXACT_OUT(address,uint256,uint256,address[],bool)": v2Out,
  "V2_SWAP_EXACT_OUT(address,uint256,uint256,address[],bool,uint256[])": v2Out,
  "TRANSFER(address,address,uint256)": ([token, to, units]) =>
    say(toRouterAmount(token, units), (amount) => `transfer ${amount} to ${toRecipient(to)}`),
  "SWEEP(address,address,uint256)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `send all, at least ${amount}, to ${toRecipient(to)}`),
  "PERMIT2_PERMIT(((address,uint160,uint48,uint48),address,uint256),bytes)": ([permit]) => {
    const [detail, spender] = permit as Values;
    return toPermits([detail], spender, " of the caller");
  },
  "PERMIT2_PERMIT_BATCH(((address,uint160,uint48,uint48)[],address,uint256),bytes)": ([permit]) => {
    const [details, spender] = permit as Values;
    return toPermits(details as Values, spender, " of the caller");
  },
  "PERMIT2_TRANSFER_FROM(address,address,uint160)": ([token, to, units]) =>
    say(toAmount(token, units), (amount) => `transfer ${amount} of the caller to ${toRecipient(to)}`),
  "PERMIT2_TRANSFER_FROM_BATCH((address,address,uint160,address)[])": ([transfers]) =>
    sayAll((transfers as Values[]).map(([from, to, units, token]) => toTransfer(token, units, from, to))),
  "WRAP_ETH(address,uint256)": ([to, units]) =>
    `wrap ${units === WHOLE_BALANCE ? `all ${COIN} of the router` : `${toCoin(units)} ${COIN}`} for ${toRecipient(to)}`,
  "UNWRAP_WETH(address,uint256)": ([to, units]) => `unwrap at least ${toCoin(units)} ${WRAPPED} for ${toRecipient(to)}`,
  "UNWRAP_WETH_EXACT(address,uint256)": ([to, units]) => `unwrap ${toCoin(units)} ${WRAPPED} for ${toRecipient(to)}`,
};
