import type { AnyHandler, Run } from "../api/plugin.ts";
import type { Compile, Schema } from "./schema/validator.ts";
import { isJob, toAcceptManifest, toStatusManifest, type WithJob } from "./set/job-manifests.ts";
import type { JobManifest, Manifest, SiteManifest } from "./set/manifest.ts";
import { parseRoute, type Route } from "./set/route.ts";

/** A manifest bound to its handler and its compiled schemas: ready to be called. Frozen. */
export interface Service {
  readonly manifest: Manifest;
  /** The route of the manifest first, then its aliases. All share one path. */
  readonly routes: readonly Route[];
  readonly path: string;
  readonly handler: AnyHandler;
  readonly input: Schema;
  /** What a caller is answered. */
  readonly output: Schema;
  readonly deadlineMs: number;
  /** Set where a call is a job. */
  readonly job?: Job;
}

/** What is done after a job was accepted. */
export interface Job {
  readonly manifest: JobManifest;
  /** The handler's output. */
  readonly deliverable: Schema;
  /** Of one attempt. */
  readonly deadlineMs: number;
}

/** A service whose calls are jobs. */
export type JobService = Service & { readonly job: Job };

/** Whether a call of the service is a job. */
export const isJobService = (service: Service): service is JobService => service.job !== undefined;

/** Makes the handler of a job's status service from the service's id and its manifest. */
export type StatusOf = (service: string, job: JobManifest) => Run<{ job_id: string }, unknown>;

/** What manifests are bound to. */
export interface Bindings {
  readonly site: SiteManifest;
  readonly compile: Compile;
  /** By `plugin.handler`. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
  /** Where manifests have jobs: how these are told of. */
  readonly statusOf?: StatusOf;
}

/**
 * The services of a set that has been checked, in the manifests' order; a job is followed by the free service that tells
 * how it stands. @throws TypeError when the set has not been checked.
 */
export function bindServices(manifests: readonly Manifest[], bindings: Bindings): readonly Service[] {
  const { handlers } = bindings;
  return Object.freeze(
    manifests.flatMap((manifest) => {
      const handler = handlers.get(manifest.handler);
      if (!handler) throw new TypeError(`${manifest.id}: there is no handler "${manifest.handler}"`);
      return isJob(manifest) ? bindJob(manifest, handler, bindings) : [bind(manifest, handler, bindings)];
    }),
  );
}

function bindJob(manifest: WithJob, handler: AnyHandler, bindings: Bindings): Service[] {
  const { compile, statusOf } = bindings;
  if (!statusOf) throw new TypeError(`${manifest.id}: nothing tells how its jobs stand`);
  const { job } = manifest;
  const deliverable = compile(manifest.output);
  const bound = { manifest: job, deliverable, deadlineMs: job.deadline_seconds * 1000 };
  return [
    bind(toAcceptManifest(manifest), handler, bindings, Object.freeze(bound)),
    bind(toStatusManifest(manifest), statusOf(manifest.id, job), bindings),
  ];
}

function bind(manifest: Manifest, handler: AnyHandler, { site, compile }: Bindings, job?: Job): Service {
  const texts = [manifest.route, ...(manifest.aliases ?? [])];
  const routes = Object.freeze(texts.map((text) => Object.freeze(parseRoute(text))));
  return Object.freeze({
    manifest,
    routes,
    path: routes[0]!.path,
    handler,
    input: compile(manifest.input),
    output: compile(manifest.output),
    deadlineMs: (manifest.deadline_seconds ?? site.limits.deadline_seconds) * 1000,
    ...(job && { job }),
  });
}
