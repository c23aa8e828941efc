import type { RequestListener } from "node:http";
import type { Clock, Log } from "../../api/capabilities.ts";
import type { JobPlaces } from "../../core/jobs/places.ts";
import type { Refusals } from "../../core/notes/refusals.ts";
import type { FacilitatorTrust } from "../../core/payments/trust.ts";
import type { Service } from "../../core/service.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { TraceStep } from "../../core/trace.ts";
import type { RailStatus } from "../../core/x402/rails.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import type { PaceOf } from "../../drivers/upstream/pace.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import type { RpcDoor } from "../../surfaces/rpc/door.ts";
import type { Config } from "../config/config.ts";
import type { BookAccess } from "../monitor/book-access.ts";
import type { Monitor } from "../monitor/monitor.ts";
import type { SoldSet } from "../monitor/state.ts";
import type { ManifestSet } from "../set/load.ts";
import type { SourcesOverride } from "./sources.ts";

export interface ComposeOptions {
  readonly set: ManifestSet;
  /** The digest of the set's files, as in `payphone history`. */
  readonly digest?: string | undefined;
  readonly config: Config;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly store: OpenStore;
  /** The shop's book; when omitted, no webhook is sent. */
  readonly books?: Pick<BookAccess, "open"> | undefined;
  /** Counts refused buyers for all sets of the process; when omitted, this set has its own. */
  readonly refusals?: Refusals | undefined;
  /** The paces of upstreams, for all sets of the process; when omitted, this set has its own. */
  readonly paceOf?: PaceOf | undefined;
  /** Bounds the running jobs of all sets of the process; when omitted, this set has its own bounds. */
  readonly places?: JobPlaces | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** The statuses of the rails of the set that is still being sold, by id. */
  readonly knownRails?: ReadonlyMap<string, RailStatus> | undefined;
  /** Counts events; when omitted, none are counted. */
  readonly monitor?:
    | Pick<Monitor, "watchTallies" | "countTallies" | "countTime" | "watchTransport" | "jobEnded">
    | undefined;
  /** The services that earlier sets offered and this one does not, as sets. */
  readonly retired?: readonly ManifestSet[] | undefined;
  /** Warnings about this set for `GET /ready`: sentences. */
  readonly notes?: readonly string[] | undefined;
  /** Records the steps of calls as spans; when omitted, calls are not traced. */
  readonly trace?: TraceStep | undefined;
  /** Set in a sandbox only. */
  readonly sandbox?: SandboxParts | undefined;
}

/** What a sandbox replaces or adds. */
export interface SandboxParts {
  /** The answer of `GET /sandbox`. */
  readonly description: SandboxDescription;
  readonly sources: SourcesOverride;
  /** The origin of a service's answers, as in the response header: `coingecko=recorded`. */
  readonly origins: (manifest: Manifest) => string | undefined;
  /** Additional doors, by path. */
  readonly doors: ReadonlyMap<string, RpcDoor>;
}

/** A set of services, ready to be served. */
export interface Composition extends Omit<SoldSet, "site"> {
  readonly listener: RequestListener;
  readonly services: readonly Service[];
  /** By id. */
  railStatuses(): ReadonlyMap<string, RailStatus>;
  /** The ids of priced services that cannot be paid at present. */
  unsellable(): readonly string[];
  /** Trusts a facilitator again: see `FacilitatorTrust`. */
  readonly trustAgain: FacilitatorTrust["trustAgain"];
  /** Checks whether the rails are up, and stores the offers. After that, calls can be served. */
  prepare(): Promise<void>;
  /** Prepares, unless that was done, and resumes work that an earlier process left unfinished. */
  start(): Promise<void>;
  /** Takes over at once the work that an earlier set of this process left open. */
  takeOver(): void;
  /** Starts no more background work, and waits until the running work has ended. Calls are still served. */
  drain(): Promise<void>;
  /** Keeps its offers on record no longer. To be called once another set is sold and no call of this one is in flight. */
  endOffers(): void;
  /** Ends all background work. The caller closes the store. */
  close(): Promise<void>;
}
