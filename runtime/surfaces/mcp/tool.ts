import type { Service } from "../../core/service.ts";
import { toStatusId } from "../../core/set/job-manifests.ts";
import { toCost } from "../rpc/cost.ts";
import type { InlineSchema } from "../schema/self-contained.ts";
import { knows, type McpVersion } from "./versions.ts";

export interface ToolOptions {
  readonly inline: InlineSchema;
  /** The titles of the rails. */
  readonly payable: string;
  readonly version: McpVersion;
}

/** A service as a tool of this version, with its price in the three places where clients look for it. */
export function toTool(service: Service, { inline, payable, version }: ToolOptions): object {
  const { manifest, input, output } = service;
  const { id, title, price } = manifest;
  const { $schema } = input.document;
  const { $defs, ...result } = inline(output.document);
  return {
    name: id,
    ...(knows(version, "structure") && { title }),
    description: toDescription(service, payable),
    inputSchema: { ...($schema !== undefined && { $schema }), ...inline(input.document) },
    ...(knows(version, "structure") && {
      // Clients may check every `structuredContent` against this, the challenge's too.
      outputSchema: {
        type: "object",
        ...(price === undefined && !manifest.sign_in ? result : { anyOf: [result, PAYMENT_REQUIRED] }),
        ...($defs !== undefined && { $defs }),
      },
    }),
    annotations: toAnnotations(manifest),
    ...(price !== undefined &&
      knows(version, "structure") && {
        _meta: { "agents-x402/paymentRequired": true, "agents-x402/priceUSD": Number(price) },
      }),
  };
}

/** What the service does and costs, and where a job is polled. */
function toDescription({ manifest, job }: Service, payable: string): string {
  const { id, description, price } = manifest;
  const cost = toCost(manifest, ` in ${payable}`);
  if (!job) return `${description} ${cost}`;
  const { eta_seconds, refund } = job.manifest;
  const back = price !== undefined && refund ? " A job that fails is paid back." : "";
  return `${description} ${cost} Answers a job_id at once: ask ${toStatusId(id)} for it, free of charge, until it is DELIVERED or FAILED, in about ${eta_seconds} s.${back}`;
}

/** All four hints, since two of them default to true. Hints that the manifest lacks get the protocol's defaults. */
function toAnnotations({ title, hints = {} }: Service["manifest"]): object {
  const { readOnly = false, destructive = !readOnly, idempotent = false, openWorld = true } = hints;
  return {
    title,
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  };
}

/** The fields of a challenge by which clients recognize it (x402 version 2, PaymentRequired). */
const PAYMENT_REQUIRED = {
  title: "PaymentRequired",
  description: "What an unpaid call, or one whose payment was refused, is answered with (x402 version 2).",
  type: "object",
  properties: {
    x402Version: { const: 2 },
    error: { type: "string", description: "Why payment is required, or why it was refused." },
    resource: { type: "object", description: "What is paid for." },
    accepts: { type: "array", items: { type: "object" }, description: "The payments that are accepted; one suffices." },
    extensions: { type: "object" },
  },
  required: ["x402Version", "resource", "accepts"],
};
