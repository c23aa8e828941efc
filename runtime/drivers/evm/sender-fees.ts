/** What a transaction of type 2 offers for its gas (EIP-1559), in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** What the chain asks for gas now, in wei. */
export interface Market {
  readonly baseFee: bigint;
  readonly tip: bigint;
}

/** Fees that stay enough while the base fee doubles, within the cap; undefined when the cap does not buy inclusion now. */
export function toFees({ baseFee, tip }: Market, capPerGas: bigint): Fees | undefined {
  if (baseFee + tip > capPerGas) return undefined;
  return { maxFeePerGas: least(2n * baseFee + tip, capPerGas), maxPriorityFeePerGas: tip };
}

/** Fees with which nodes accept a replacement; undefined when the cap leaves no room for them. */
export function toRaisedFees(fees: Fees, { baseFee, tip }: Market, capPerGas: bigint): Fees | undefined {
  if (raise(fees.maxFeePerGas) > capPerGas) return undefined;
  const maxFeePerGas = least(most(raise(fees.maxFeePerGas), 2n * baseFee + tip), capPerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(most(raise(fees.maxPriorityFeePerGas), tip), maxFeePerGas) };
}

/** 12.5 % more, rounded up: the most that any client asks of a replacement. */
const raise = (wei: bigint): bigint => (wei * 9n) / 8n + 1n;
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
