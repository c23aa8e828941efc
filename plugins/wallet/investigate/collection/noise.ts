import { LEAST_LAMPORTS } from "../sources/solana-transfers.ts";
import type { Transfer } from "../sources/transfers.ts";

/**
 * Leaves out transfers of SOL with addresses with which they come to little in all: rent and tips. With an address on
 * the sanctions list any sum counts.
 */
export async function withoutNoise(
  address: string,
  transfers: readonly Transfer[],
  isListed: (address: string) => Promise<boolean>,
): Promise<readonly Transfer[]> {
  const otherOf = ({ from, to }: Transfer): string => (from === address ? to : from);
  const coins = Map.groupBy(
    transfers.filter(({ asset }) => asset === "SOL"),
    otherOf,
  );
  const noise = new Set<string>();
  for (const [other, between] of coins) {
    const sum = between.reduce((total, { units }) => total + BigInt(units), 0n);
    if (sum < LEAST_LAMPORTS && !(await isListed(other))) noise.add(other);
  }
  return transfers.filter((transfer) => transfer.asset !== "SOL" || !noise.has(otherOf(transfer)));
}
