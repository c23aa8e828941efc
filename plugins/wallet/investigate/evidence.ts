import type { IntelBundle } from "../intel/bundle.ts";
import type { ScreenResponse } from "../screen/screening.ts";
import type { Flow, Volume } from "./flows.ts";
import type { Transfer } from "./sources/transfers.ts";
import type { Subject } from "./subject.ts";

/** A failed source, with the reason in a sentence. */
export interface Missing {
  readonly source: string;
  readonly message: string;
}

/** The part of a screening that a report needs. */
export type Screened = Pick<
  ScreenResponse,
  "risk_level" | "risk_score" | "sanctions_match" | "labels" | "signals" | "partial" | "corpus_version"
>;

/** An address in the graph. */
export interface GraphNode {
  readonly address: string;
  /** The distance from the subject, in transfers. */
  readonly hop: 0 | 1 | 2;
  /** The ENS or SNS name, or the explorer's label. */
  readonly label: string | null;
  /** Null when the address could not be screened. */
  readonly screened: Screened | null;
}

/** The counterparty graph. Both ends of every flow are nodes. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly flows: readonly Flow[];
  /** The number of direct counterparties, including those that the bounds left out. */
  readonly counterparties: number;
}

/** Another address that the same person seems to control, with the reason. */
export interface Link {
  readonly address: string;
  readonly reason: "ens-record" | "shared-funding";
  readonly screened: Screened | null;
}

/** The subject's transfers in numbers. */
export interface Movements {
  readonly volumes: readonly Volume[];
  readonly senders: number;
  readonly recipients: number;
  /** Unix seconds; null without transfers. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly coverage: readonly string[];
  readonly isWhole: boolean;
  /** The largest transfers of each asset. */
  readonly largest: readonly Transfer[];
}

/** Everything that was read about a subject. Score and report are pure functions of it. */
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
    /** The explorer's labels for the subject. */
    readonly labels: readonly string[];
    /** The first transfer that the subject received; null unless its history was read to the beginning. */
    readonly funding: Transfer | null;
    readonly links: readonly Link[];
  };
  readonly movements: Movements | null;
  readonly graph: Graph;
  readonly missing: readonly Missing[];
}
