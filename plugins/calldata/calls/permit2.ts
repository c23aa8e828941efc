import { type Summarize, say, sayAll, toAllowance, toAmount, type Values } from "./amounts.ts";

/** The same on every chain. */
const PERMIT2 = "0x000000000022d473030f116ddee9f6b43ac78ba3";

/** Allowances that Permit2 gives. @param owner empty, or ` of ` and whose tokens they are. */
export const toPermits = (details: Values, spender: unknown, owner: string): string | undefined =>
  sayAll(
    (details as Values[]).map(([token, units]) =>
      say(toAllowance(token, units), (amount) => `allow ${spender} to spend ${amount}${owner} through Permit2`),
    ),
  );

export const toTransfer = (token: unknown, units: unknown, from: unknown, to: unknown): string | undefined =>
  say(toAmount(token, units), (amount) => `transfer ${amount} from ${from} to ${to}`);

const signed: Summarize = ([permitted, details, owner]) => {
  const [[token]] = permitted as [Values];
  const [to, units] = details as Values;
  return toTransfer(token, units, owner, to);
};

/** Functions of Permit2, which name their tokens. */
const FUNCTIONS: Readonly<Record<string, Summarize>> = {
  "approve(address,address,uint160,uint48)": ([token, spender, units]) => toPermits([[token, units]], spender, ""),
  "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)": ([owner, permit]) => {
    const [detail, spender] = permit as Values;
    return toPermits([detail], spender, ` of ${owner}`);
  },
  "permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)": ([owner, permit]) => {
    const [details, spender] = permit as Values;
    return toPermits(details as Values, spender, ` of ${owner}`);
  },
  "transferFrom(address,address,uint160,address)": ([from, to, units, token]) => toTransfer(token, units, from, to),
  "transferFrom((address,address,uint160,address)[])": ([transfers]) =>
    sayAll((transfers as Values[]).map(([from, to, units, token]) => toTransfer(token, units, from, to))),
  "permitTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes)": signed,
  "permitWitnessTransferFrom(((address,uint256),uint256,uint256),(address,uint256),address,bytes32,string,bytes)":
    signed,
};

/** The same functions, of this contract alone. */
export const PERMIT2_SUMMARIES: Readonly<Record<string, Summarize>> = Object.fromEntries(
  Object.entries(FUNCTIONS).map(([signature, summarize]): [string, Summarize] => [
    signature,
    (values, target, wei) => (target?.toLowerCase() === PERMIT2 ? summarize(values, target, wei) : undefined),
  ]),
);
