import { isObject } from "../json.ts";
import { handlerOf, type JobManifest, type Manifest } from "./manifest.ts";

export type WithJob = Manifest & { readonly job: JobManifest };

/** Whether a service's calls are jobs. */
export const isJob = (manifest: Manifest): manifest is WithJob => manifest.job !== undefined;

/** The id of the status service of a job service. */
export const toStatusId = (id: string): string => `${id}_status`;

/** The manifest that clients see: its output is the accepted job, not the deliverable. */
export const toAcceptManifest = (manifest: WithJob): Manifest => ({
  ...manifest,
  output: toAcceptedSchema(manifest),
  examples: manifest.examples.map(({ input }) => ({ input })),
});

const EXAMPLE_JOB_ID = "3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55";

/** The path at which a job is polled. */
export const toStatusPath = ({ status_route }: JobManifest, jobId: string): string =>
  status_route.slice(status_route.indexOf("/")).replace(/\{\w+\}/, jobId);

/** The answer that accepts a job, as examples show it. @param baseUrl the public base URL */
export const toAcceptedExample = (job: JobManifest, baseUrl: string): object => ({
  job_id: EXAMPLE_JOB_ID,
  status: "accepted",
  status_url: baseUrl + toStatusPath(job, EXAMPLE_JOB_ID),
  eta_seconds: job.eta_seconds,
});

/** The manifest of the free status service at `job.status_route`: takes `job_id`, returns the job's status. */
export function toStatusManifest(manifest: WithJob): Manifest {
  const { id, title, job, tags, category } = manifest;
  return {
    id: toStatusId(id),
    title: `Status: ${title}`.slice(0, LONGEST_TITLE),
    description: `The status of a job of \`${id}\`, free of charge, by its job_id. DELIVERED comes with the deliverable, FAILED with the error and what became of the payment. A job that nobody knows is UNKNOWN.`,
    route: job.status_route,
    handler: handlerOf(manifest),
    input: STATUS_INPUT,
    output: toStatusSchema(manifest),
    tags,
    ...(category !== undefined && { category }),
    hints: { readOnly: true, idempotent: true, openWorld: false },
    examples: [{ input: { job_id: EXAMPLE_JOB_ID }, output: toStatusExample(manifest) }],
  };
}

/** The status of a job that has delivered the first example's output; without examples, of a running job. */
function toStatusExample({ job, examples }: WithJob): object {
  const deliverable = examples.find(({ output }) => output !== undefined)?.output ?? null;
  const state = deliverable
    ? { status: "DELIVERED", eta_seconds: null }
    : { status: "IN_PROGRESS", eta_seconds: job.eta_seconds };
  return {
    job_id: EXAMPLE_JOB_ID,
    ...state,
    deliverable,
    step: null,
    error: null,
    refund_tx: null,
    refund_pending: null,
  };
}

const LONGEST_TITLE = 32;

const STATUS_INPUT = {
  type: "object",
  properties: {
    job_id: {
      type: "string",
      minLength: 1,
      maxLength: 128,
      description: "The job_id in the answer to the accepted call.",
    },
  },
  required: ["job_id"],
};

const ETA = "Seconds that are left, as far as can be told.";

const toAcceptedSchema = ({ job: { eta_seconds, status_route } }: WithJob): object => ({
  type: "object",
  properties: {
    job_id: { type: "string", format: "uuid", description: `The job's id, for ${status_route}.` },
    status: { const: "accepted", description: "The job is paid for and in line." },
    status_url: { type: "string", format: "uri", description: "Where the job is polled, free of charge: a whole URL." },
    eta_seconds: { type: "integer", default: eta_seconds, description: ETA },
  },
  required: ["job_id", "status_url"],
});

const toStatusSchema = ({ output }: WithJob): object => ({
  ...(isObject(output) && isObject(output.$defs) && { $defs: output.$defs }), // A `$ref` to `#/$defs/…` resolves at the root.
  type: "object",
  properties: {
    job_id: { type: "string", description: "The job's id." },
    status: {
      enum: ["DISPATCHING", "IN_PROGRESS", "DELIVERED", "FAILED", "UNKNOWN"],
      description: "DELIVERED and FAILED are ends.",
    },
    deliverable: {
      anyOf: [typeof output === "string" ? { $ref: `${output}.json` } : output, { type: "null" }],
      description: "What was paid for, once DELIVERED.",
    },
    eta_seconds: { type: ["integer", "null"], description: ETA },
    step: { type: ["string", "null"], description: "What is being done now." },
    error: { type: ["string", "null"], description: "Why the job failed, or why it is unknown." },
    refund_tx: { type: ["string", "null"], description: "The transaction that has paid a failed job back." },
    refund_pending: {
      enum: ["manual", null],
      description:
        "`manual`: the payment was on a rail that is refunded by hand, or its payer cannot be refunded automatically.",
    },
  },
  required: ["job_id", "status"],
});
