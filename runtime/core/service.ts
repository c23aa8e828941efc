import type { AnyHandler, Run } from "../api/plugin.ts";
import { Problem } from "../api/problem.ts";
import { mostFields } from "./schema/most-fields.ts";
import type { Compile, Schema } from "./schema/validator.ts";
import { isJob, toAcceptManifest, toStatusManifest, type WithJob } from "./set/job-manifests.ts";
import { handlerOf, type JobManifest, type Manifest, type SiteManifest } from "./set/manifest.ts";
import { parseRoute, type Route } from "./set/route.ts";

/** A manifest bound to its handler and its compiled schemas. Frozen. */
export interface Service {
  readonly manifest: Manifest;
  /** The manifest's route and its aliases. All have the same path. */
  readonly routes: readonly Route[];
  readonly path: string;
  readonly handler: AnyHandler;
  readonly input: Schema;
  /** The schema of the answer; for a job service, the schema of the accepted job. */
  readonly output: Schema;
  readonly deadlineMs: number;
  /** The largest JSON body of a call, in bytes. */
  readonly bodyBytes: number;
  /** The most fields of a JSON body, unknown fields included; Infinity where the input may be any JSON. */
  readonly bodyFields: number;
  /** Set for services whose calls are jobs. */
  readonly job?: Job;
  /** No longer offered: only earlier offers can be paid and earlier purchases fetched. */
  readonly isRetired?: true;
  /** Its plugin cannot be set up any more: what waits to be done is paid back. */
  readonly isUnable?: true;
  /** A status service: it tells the status of another service's jobs. */
  readonly isStatus?: true;
}

/** How the accepted jobs of a service are run. */
export interface Job {
  readonly manifest: JobManifest;
  /** The schema of the handler's output. */
  readonly deliverable: Schema;
  /** The deadline of one attempt. */
  readonly deadlineMs: number;
}

/** A service whose calls are jobs. */
export type JobService = Service & { readonly job: Job };

/** Whether the service's calls are jobs. */
export const isJobService = (service: Service): service is JobService => service.job !== undefined;

/** The Problem for callers of a retired service. @param refusal why their payment was refused */
export function toGone({ manifest }: Service, refusal?: string): Problem {
  const because = refusal === undefined ? "" : `. The payment was refused: ${refusal}`;
  return new Problem("gone", `"${manifest.title}" is not sold any more; GET / lists what is${because}`);
}

/** Makes the handler of a status service from the job service's id and its `job`. */
export type StatusOf = (service: string, job: JobManifest) => Run<{ job_id: string }, unknown>;

/** What `bindServices` binds manifests with. */
export interface Bindings {
  readonly site: SiteManifest;
  readonly compile: Compile;
  /** Keys are `plugin.handler`, or `proxy:` and the id of a proxied service. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  /** Required when manifests have jobs. */
  readonly statusOf?: StatusOf;
}

/**
 * The services of a checked set, in the manifests' order. Each job service is followed by its free status service.
 * @throws TypeError when a handler or `statusOf` is missing; RangeError for a malformed route.
 */
export function bindServices(manifests: readonly Manifest[], bindings: Bindings): readonly Service[] {
  const { handlers } = bindings;
  return Object.freeze(
    manifests.flatMap((manifest) => {
      const handler = handlers.get(handlerOf(manifest));
      if (!handler) throw new TypeError(`${manifest.id}: there is no handler "${handlerOf(manifest)}"`);
      return isJob(manifest) ? bindJob(manifest, handler, bindings) : [bind(manifest, handler, bindings)];
    }),
  );
}

function bindJob(manifest: WithJob, handler: AnyHandler, bindings: Bindings): Service[] {
  const { compile, statusOf } = bindings;
  if (!statusOf) throw new TypeError(`${manifest.id}: there is no status handler for its jobs`);
  const { job } = manifest;
  const deliverable = compile(manifest.output);
  const bound = { manifest: job, deliverable, deadlineMs: job.deadline_seconds * 1000 };
  const status = bind(toStatusManifest(manifest), statusOf(manifest.id, job), bindings);
  return [
    bind(toAcceptManifest(manifest), handler, bindings, Object.freeze(bound)),
    Object.freeze({ ...status, isStatus: true as const, output: { ...status.output, check: unchecked } }),
  ];
}

/** A deliverable was checked when it was delivered, by the schema of that time. */
const unchecked: Schema["check"] = (value) => ({ value, issues: [] });

/** How many unknown fields callers may send. */
const DROPPED_FIELDS = 1000;

function bind(manifest: Manifest, handler: AnyHandler, { site, compile }: Bindings, job?: Job): Service {
  const texts = [manifest.route, ...(manifest.aliases ?? [])];
  const routes = Object.freeze(texts.map((text) => Object.freeze(parseRoute(text))));
  const input = compile(manifest.input);
  return Object.freeze({
    manifest,
    routes,
    path: routes[0]!.path,
    handler,
    input,
    output: compile(manifest.output),
    deadlineMs: (manifest.deadline_seconds ?? site.limits.deadline_seconds) * 1000,
    bodyBytes: manifest.body_bytes ?? site.limits.body_bytes,
    bodyFields: mostFields(input.document, input.nodes.resolve) + DROPPED_FIELDS,
    ...(job && { job }),
  });
}
