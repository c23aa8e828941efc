import type { ChainFamily } from "../address.ts";
import type { Reputation } from "./reputation.ts";
import type { SanctionsFinding } from "./sanctions.ts";

/** The results of all sources for one address. */
export interface ScreenFindings {
  /** As the caller wrote it. */
  readonly wallet: string;
  readonly chain: ChainFamily;
  readonly key: string;
  /** Whether `key` is a listed address within what the caller wrote. */
  readonly isInside: boolean;
  /** Whether the caller wrote several addresses; `key` is then the one that is listed, if there is one. */
  readonly isSeveral: boolean;
  /** Whether it is an address of Solana to which no secret key can belong, like most token accounts. */
  readonly isKeyless: boolean;
  readonly listed: SanctionsFinding;
  /** Undefined when GoPlus was not asked or did not answer. */
  readonly reputation: Reputation | undefined;
  readonly checkedAtMs: number;
}
