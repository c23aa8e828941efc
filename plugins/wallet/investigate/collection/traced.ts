import type { Movements } from "../evidence.ts";
import type { Transfer } from "../sources/transfers.ts";
import type { Neighbourhood } from "./graph.ts";
import type { MergedHistory } from "./histories.ts";

/** The results of the transfers step; the long lists of transfers are not kept. */
export interface Traced extends Omit<MergedHistory, "transfers" | "labels" | "isWhole"> {
  readonly movements: Movements;
  readonly funding: Transfer | null;
  readonly neighbourhood: Neighbourhood;
}
