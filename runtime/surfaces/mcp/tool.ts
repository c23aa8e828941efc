import type { Service } from "../../core/service.ts";
import { toStatusId } from "../../core/set/job-manifests.ts";
import { mediaOf } from "../../core/set/manifest.ts";
import { toOffered } from "../rpc/cost.ts";
import { withSingleTypes } from "../schema/any-of.ts";
import { withAllFields, withObjects } from "../schema/joined.ts";
import { toOutline } from "../schema/lean.ts";
import type { InlineSchema } from "../schema/self-contained.ts";
import { knows, type McpVersion } from "./versions.ts";

export interface ToolOptions {
  readonly inline: InlineSchema;
  /** The titles of the rails, for the description. */
  readonly payable: string;
  readonly version: McpVersion;
}

/** The depth of output schemas in lists, which models pay for in tokens. */
const OUTPUT_DEPTH = 1;

/** A service as a tool of this version, with its price in the three places where clients look for it. */
export function toTool(service: Service, { inline, payable, version }: ToolOptions): object {
  const { manifest, input, output } = service;
  const { id, title, price } = manifest;
  const answersFile = mediaOf(manifest) !== undefined; // A file has no structure to describe.
  const { type: _object, ...result } = withObjects(toOutline(inline(output.document), OUTPUT_DEPTH));
  return {
    name: id,
    ...(knows(version, "structure") && { title }),
    description: toDescription(service, payable),
    inputSchema: withObjects(withSingleTypes(withAllFields(inline(input.document)))),
    ...(knows(version, "structure") &&
      !answersFile && {
        // Clients may validate every `structuredContent` against this schema, a challenge included. openapi.json has
        // all details.
        outputSchema: {
          type: "object",
          ...(price === undefined && !manifest.sign_in ? result : { anyOf: [result, PAYMENT_REQUIRED] }),
        },
      }),
    annotations: { ...(!knows(version, "structure") && { title }), ...toHints(manifest) },
    ...(price !== undefined &&
      knows(version, "structure") && {
        _meta: { "agents-x402/paymentRequired": true, "agents-x402/priceUSD": Number(price) },
      }),
  };
}

/** What the service does and costs, and how to poll a job. */
function toDescription({ manifest, job }: Service, payable: string): string {
  const { id, price } = manifest;
  const offered = toOffered(manifest, ` in ${payable}`);
  if (!job) return offered;
  const { eta_seconds, refund } = job.manifest;
  const back = price !== undefined && refund ? " A job that fails is paid back." : "";
  return `${offered} Answers a job_id at once: ask ${toStatusId(id)} for it, free of charge, until it is DELIVERED or FAILED, in about ${eta_seconds} s.${back}`;
}

/** All four hints are written, since two of them default to true. Missing hints get the protocol's defaults. */
function toHints({ hints = {} }: Service["manifest"]): object {
  const { readOnly = false, destructive = !readOnly, idempotent = false, openWorld = true } = hints;
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  };
}

/** The field of a challenge that no output has (x402 version 2, PaymentRequired). */
const PAYMENT_REQUIRED = { required: ["accepts"] };
