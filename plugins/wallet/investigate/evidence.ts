import type { IntelBundle } from "../intel/findings.ts";
import type { ScreenResponse } from "../screen/response.ts";
import type { Flow, Volume } from "./flows.ts";
import type { Transfer } from "./sources/transfers.ts";
import type { Subject } from "./subject.ts";

/** The source that is searched for each address. */
export const SANCTIONS_LIST = "OFAC's sanctions list";
/** The source of the subject's other addresses. */
export const ENS_RECORDS = "ENS records";

/** What could not be read, with the reason in a sentence. */
export interface Missing {
  readonly source: string;
  readonly message: string;
  /** The points that the missing part may hide; 0 when it cannot change the score. */
  readonly atStake: number;
}

export interface Coverage {
  readonly source: string;
  /** What was read, as a sentence. */
  readonly covers: string;
  /** Whether everything was read. */
  readonly whole: boolean;
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
  /** How many addresses it dealt with, in the part of its history that was read; null when nothing was read. */
  readonly contacts: number | null;
  /** Null when the address could not be screened. */
  readonly screened: Screened | null;
}

/** The counterparty graph. Both ends of every flow are nodes. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly flows: readonly Flow[];
  /** The number of direct counterparties, including those beyond the bounds. */
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
  readonly isWhole: boolean;
  /** The largest transfers of each asset. */
  readonly largest: readonly Transfer[];
}

/** The subject's activity. Times are Unix seconds. */
export interface Activity extends Readonly<IntelBundle["activity"]> {
  /** The first transaction; null unless its history was read to the beginning. */
  readonly firstSeenAt: number | null;
  /** The oldest transaction that was found; the address is at least this old. Null when none was found. */
  readonly seenSince: number | null;
}

/** Everything that was read about a subject. Score and report are pure functions of it. */
export interface Evidence {
  readonly subject: Subject;
  /** Unix seconds. */
  readonly investigatedAt: number;
  readonly screened: ScreenResponse;
  readonly balances: IntelBundle["balances"];
  readonly activity: Activity;
  readonly identity: {
    readonly ensName: string | null;
    readonly snsName: string | null;
    /** The explorer's labels for the subject. */
    readonly labels: readonly string[];
    /** The first transfer that the subject received; null unless its history was read to the beginning. */
    readonly funding: Transfer | null;
    readonly links: readonly Link[];
  };
  readonly movements: Movements;
  readonly graph: Graph;
  /** The coverage, source by source. */
  readonly coverage: readonly Coverage[];
  readonly missing: readonly Missing[];
}
