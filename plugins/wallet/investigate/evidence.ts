import type { IntelBundle } from "../intel/bundle.ts";
import type { ScreenResponse } from "../screen/screening.ts";
import type { Flow, Volume } from "./flows.ts";
import type { Transfer } from "./sources/transfers.ts";
import type { Subject } from "./subject.ts";

/** A source that has failed, and why in a sentence. */
export interface Missing {
  readonly source: string;
  readonly message: string;
}

/** What a screening has said, as far as a report needs it. */
export type Screened = Pick<
  ScreenResponse,
  "risk_level" | "risk_score" | "sanctions_match" | "labels" | "signals" | "partial" | "corpus_version"
>;

/** An address in the graph. */
export interface GraphNode {
  readonly address: string;
  /** How many transfers away from the subject it is. */
  readonly hop: 0 | 1 | 2;
  /** Its ENS or SNS name, or what the explorer calls it. */
  readonly label: string | null;
  /** null when it could not be screened. */
  readonly screened: Screened | null;
}

/** Who dealt with whom. Flows join nodes of the graph only. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly flows: readonly Flow[];
  /** How many direct counterparties there were, with those that the bounds have left out. */
  readonly counterparties: number;
}

/** Another address that the same person seems to control, and why. */
export interface Link {
  readonly address: string;
  readonly reason: "ens-record" | "shared-funding";
  readonly screened: Screened | null;
}

/** What moved, in numbers. */
export interface Movements {
  readonly volumes: readonly Volume[];
  readonly senders: number;
  readonly recipients: number;
  /** Unix seconds; null when nothing moved. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly coverage: readonly string[];
  readonly isWhole: boolean;
  /** The largest of each asset. */
  readonly largest: readonly Transfer[];
}

/** All that was found out about a subject: from here on everything is computed, and computed alike each time. */
export interface Evidence {
  readonly subject: Subject;
  /** Unix seconds. */
  readonly investigatedAt: number;
  readonly screened: ScreenResponse | null;
  readonly balances: IntelBundle["balances"] | null;
  readonly activity: (IntelBundle["activity"] & { readonly firstSeenAt: number | null }) | null;
  readonly identity: {
    readonly ensName: string | null;
    readonly snsName: string | null;
    /** What the explorer calls the subject. */
    readonly labels: readonly string[];
    /** The first transfer that the subject ever received; null when its history was not read to its beginning. */
    readonly funding: Transfer | null;
    readonly links: readonly Link[];
  };
  readonly movements: Movements | null;
  readonly graph: Graph;
  readonly missing: readonly Missing[];
}
