import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace-base";
import type { Log } from "../../api/capabilities.ts";
import { toEndpoint } from "../http/endpoint.ts";

export interface OtlpOptions {
  /** The collector's URL, without `/v1/traces`. A name and a password in it become a basic authorization header. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The name by which collectors group spans (`service.name`). */
  readonly service: string;
  readonly log: Log;
}

const TIMEOUT_MS = 10_000;
/** `ExportResultCode` of @opentelemetry/core. */
const OK = 0;
const FAILED = 1;

/** Sends spans to a collector (OTLP 1.x over HTTP, JSON encoding). Rejected spans are lost, and logged. */
export function createOtlpExporter({ endpoint, headers, service, log }: OtlpOptions): SpanExporter {
  const { url, headers: basic } = toEndpoint(`${endpoint.replace(/\/$/, "")}/v1/traces`);
  const sending = new Set<Promise<void>>();

  async function send(spans: readonly ReadableSpan[]): Promise<void> {
    const body = JSON.stringify(toRequest(service, spans));
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const sent = { "content-type": "application/json", ...basic, ...headers };
    const response = await fetch(url, { method: "POST", headers: sent, body, redirect: "manual", signal });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`The collector answered ${response.status}`);
  }

  return {
    export(spans, done) {
      const work = send(spans)
        .then(() => done({ code: OK }))
        .catch((error: Error) => {
          log.warn("traces.lost", { spans: spans.length, error });
          done({ code: FAILED, error });
        })
        .finally(() => sending.delete(work));
      sending.add(work);
    },
    forceFlush: async () => void (await Promise.all(sending)),
    shutdown: async () => void (await Promise.all(sending)),
  };
}

type Values = Readonly<Record<string, unknown>>;

/** An ExportTraceServiceRequest. */
function toRequest(service: string, spans: readonly ReadableSpan[]): object {
  const [first] = spans;
  return {
    resourceSpans: [
      {
        resource: { attributes: toAttributes({ ...first?.resource.attributes, "service.name": service }) },
        scopeSpans: [{ scope: { name: "payphone" }, spans: spans.map(toSpan) }],
      },
    ],
  };
}

function toSpan(span: ReadableSpan): object {
  const { name, kind, startTime, endTime, attributes, status, parentSpanContext } = span;
  const { traceId, spanId } = span.spanContext(); // A method of the SDK's class, so it is not destructured.
  return {
    traceId,
    spanId,
    ...(parentSpanContext && { parentSpanId: parentSpanContext.spanId }),
    name,
    kind: kind + 1, // The SDK counts from 0, the protocol from 1.
    startTimeUnixNano: toNano(startTime),
    endTimeUnixNano: toNano(endTime),
    attributes: toAttributes(attributes),
    status: { code: status.code, ...(status.message && { message: status.message }) },
  };
}

const toNano = ([seconds, nano]: readonly [number, number]): string =>
  String(BigInt(seconds) * 1_000_000_000n + BigInt(nano));

const toAttributes = (attributes: Values): object[] =>
  Object.entries(attributes).flatMap(([key, value]): object[] => {
    if (typeof value === "string") return [{ key, value: { stringValue: value } }];
    if (typeof value === "number") return [{ key, value: { intValue: String(Math.round(value)) } }];
    return typeof value === "boolean" ? [{ key, value: { boolValue: value } }] : [];
  });
