import type { RailManifest } from "../set/manifest.ts";
import type { Facilitator, SettlementReader } from "./x402.ts";

/** A rail that is configured: its manifest, its receiving address and whoever settles on it. */
export interface Rail {
  readonly manifest: RailManifest;
  readonly payTo: string;
  readonly facilitator: Facilitator;
  readonly settlements: SettlementReader;
}

/** Whether a rail can be offered now. */
export type RailStatus =
  | {
      readonly state: "up" /** What the facilitator adds to `extra`, e.g. `feePayer` on Solana. */;
      readonly extra: Readonly<Record<string, unknown>>;
    }
  | { readonly state: "down"; readonly reason: string };
