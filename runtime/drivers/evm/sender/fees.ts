/** The fees of a type 2 transaction (EIP-1559), in wei. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The chain's current gas prices, in wei. */
export interface Market {
  readonly baseFee: bigint;
  readonly tip: bigint;
}

/** Fees that suffice until the base fee doubles, up to the cap; undefined when the cap is below the current price. */
export function toFees({ baseFee, tip }: Market, capPerGas: bigint): Fees | undefined {
  if (baseFee + tip > capPerGas) return undefined;
  return { maxFeePerGas: least(2n * baseFee + tip, capPerGas), maxPriorityFeePerGas: tip };
}

/** Fees that nodes accept for a replacement; undefined when they would exceed the cap. */
export function toRaisedFees(fees: Fees, { baseFee, tip }: Market, capPerGas: bigint): Fees | undefined {
  if (raise(fees.maxFeePerGas) > capPerGas) return undefined;
  const maxFeePerGas = least(most(raise(fees.maxFeePerGas), 2n * baseFee + tip), capPerGas);
  return { maxFeePerGas, maxPriorityFeePerGas: least(most(raise(fees.maxPriorityFeePerGas), tip), maxFeePerGas) };
}

/** At least 12.5 % more: the highest minimum that any client requires for a replacement. */
const raise = (wei: bigint): bigint => (wei * 9n) / 8n + 1n;
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);
