import type { Chain } from "./address.ts";
import type { Reputation } from "./reputation.ts";
import type { SanctionsFinding } from "./sanctions.ts";

/** All that was found out about one address. */
export interface Findings {
  /** As the caller wrote it. */
  readonly wallet: string;
  readonly chain: Chain;
  readonly key: string;
  readonly listed: SanctionsFinding;
  /** Undefined where GoPlus was not asked or has not answered. */
  readonly reputation: Reputation | undefined;
  readonly checkedAtMs: number;
}
