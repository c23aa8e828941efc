import type { RequestListener } from "node:http";
import type { Clock, Log } from "../../api/capabilities.ts";
import type { QueuedJob } from "../../core/jobs/queue.ts";
import type { FacilitatorTrust } from "../../core/payments/trust.ts";
import type { Service } from "../../core/service.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { TraceStep } from "../../core/trace.ts";
import type { Rail, RailStatus } from "../../core/x402/rails.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import type { RpcDoor } from "../../surfaces/rpc/door.ts";
import type { Config } from "../config/config.ts";
import type { BookAccess } from "../monitor/book-access.ts";
import type { Monitor } from "../monitor/monitor.ts";
import type { ManifestSet } from "../set/load.ts";
import type { SourcesOverride } from "./sources.ts";

export interface ComposeOptions {
  readonly set: ManifestSet;
  /** Of the set's files, as `payphone history` names it. */
  readonly digest?: string | undefined;
  readonly config: Config;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly store: OpenStore;
  /** The shop's book; without it nobody is told of anything by webhooks. */
  readonly books?: Pick<BookAccess, "open"> | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** How the set that is sold until now knew its rails, by id. */
  readonly knownRails?: ReadonlyMap<string, RailStatus> | undefined;
  /** Counts what happens; left out: nobody does. */
  readonly monitor?: Pick<Monitor, "watchTallies" | "watchTransport"> | undefined;
  /** What earlier sets offered and this one does not: sets of the services that are retired. */
  readonly retired?: readonly ManifestSet[] | undefined;
  /** What `GET /ready` warns of because of this set: sentences. */
  readonly notes?: readonly string[] | undefined;
  /** Notes the steps of calls; left out: nobody does. */
  readonly trace?: TraceStep | undefined;
  /** Set in a sandbox only. */
  readonly sandbox?: SandboxParts | undefined;
}

/** What a sandbox replaces or adds. */
export interface SandboxParts {
  /** What `GET /sandbox` answers. */
  readonly description: SandboxDescription;
  readonly sources: SourcesOverride;
  /** Where the data of a service's answers comes from, as its response header says it: `coingecko=recorded`. */
  readonly origins: (manifest: Manifest) => string | undefined;
  /** Additional doors, by path. */
  readonly doors: ReadonlyMap<string, RpcDoor>;
}

/** A set of services, ready to be served. */
export interface Composition {
  readonly listener: RequestListener;
  readonly services: readonly Service[];
  readonly rails: readonly Rail[];
  /** The capabilities of the host that plugins take, by their names in `Host`. */
  readonly capabilities: ReadonlySet<string>;
  /** The jobs in line or at work, in all processes, by service. @throws Problem `unavailable`. */
  jobsInLine(): Promise<ReadonlyMap<string, number>>;
  /** These jobs, the oldest first, at most so many of each service. @throws Problem `unavailable`. */
  jobsWaiting(most: number): Promise<readonly QueuedJob[]>;
  /** By id. */
  railStatuses(): ReadonlyMap<string, RailStatus>;
  /** The services with a price that nobody can pay now, by id. */
  unsellable(): readonly string[];
  /** What `GET /ready` answers. */
  ready(): Promise<ReadyReport>;
  /** Believes a facilitator again: see `FacilitatorTrust`. */
  readonly pardon: FacilitatorTrust["pardon"];
  /** Asks the rails whether they are up, and puts the offers on record: calls can be served from then on. */
  prepare(): Promise<void>;
  /** Prepares, unless that is done, and resumes what an earlier process left unfinished. */
  start(): Promise<void>;
  /** Takes up now what an earlier set of this process has left open. */
  takeOver(): void;
  /** Begins no more work in the background, and waits for the end of what is under way. Calls are still served. */
  drain(): Promise<void>;
  /** Ends all background work. The caller closes the store. */
  close(): Promise<void>;
}
