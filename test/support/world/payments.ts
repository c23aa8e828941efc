import { createHash } from "node:crypto";

/** A payment in the past, on Base or on Solana. Base addresses are in lower case. */
export interface Payment {
  readonly from: string;
  readonly to: string;
  readonly asset: "USDC" | "ETH" | "SOL";
  /** In whole coins: `500`, `0.25`. */
  readonly amount: string;
  /** How many days ago. */
  readonly daysAgo: number;
  /** Whether a contract made it. Then its sender's nonce does not grow, and explorers list it as internal. */
  readonly isInternal?: boolean;
  /** The calldata of its transaction. */
  readonly input?: string;
}

/** A payment with its place on a chain. */
export interface Mined extends Payment {
  /** Atomic units. */
  readonly units: bigint;
  /** Unix seconds. */
  readonly at: number;
  readonly block: number;
  /** 64 hex digits, from which both chains make their transaction ids. */
  readonly digest: string;
  readonly logIndex: number;
}

/** The time of Base's first block, and the seconds between blocks. */
export const BASE = { genesis: 1_686_789_347, pace: 2 } as const;
const DECIMALS = { USDC: 6, ETH: 18, SOL: 9 } as const;

/** Puts payments on a chain, oldest first. @param nowMs the current time, which is also that of the newest block */
export function mine(payments: readonly Payment[], nowMs: number): Mined[] {
  return payments
    .map((payment, index) => {
      const height = toHeight(nowMs);
      const block = height - Math.round((payment.daysAgo * 86_400) / BASE.pace);
      const digest = createHash("sha256").update(`${index} ${payment.from} ${payment.to}`).digest("hex");
      const at = BASE.genesis + block * BASE.pace;
      return { ...payment, units: toUnits(payment), at, block, digest, logIndex: index % 1000 };
    })
    .sort((one, other) => one.block - other.block);
}

/** The newest block's number. */
export const toHeight = (nowMs: number): number => Math.floor((nowMs / 1000 - BASE.genesis) / BASE.pace);

/** The amount in atomic units. */
function toUnits({ amount, asset }: Pick<Payment, "amount" | "asset">): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(DECIMALS[asset], "0").slice(0, DECIMALS[asset]));
}

/** The balance of an asset after all payments; 0 when the address has spent more than it received. */
export function toBalance(mined: readonly Mined[], address: string, asset: Payment["asset"]): bigint {
  const moved = mined.filter((payment) => payment.asset === asset);
  const sum = moved.reduce(
    (total, { from, to, units }) => total + (to === address ? units : 0n) - (from === address ? units : 0n),
    0n,
  );
  return sum > 0n ? sum : 0n;
}
