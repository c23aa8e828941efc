import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace as spans } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Problem } from "../../api/problem.ts";
import type { TraceStep } from "../../core/trace.ts";
import { createOtlpExporter, type OtlpOptions } from "./otlp.ts";

/** Traces requests and the steps of calls. */
export interface Tracing {
  /**
   * Gives each request a span until it is answered, as a child of the caller's `traceparent` (W3C Trace Context). That of
   * a call has a step `answer`, which begins with the answer's head.
   */
  wrap(listener: RequestListener): RequestListener;
  readonly trace: TraceStep;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

/** Health checks are not traced. */
const UNTRACED = /^\/(?:health|ready)(?:\?|$)/;
const NAMED = { get: (headers: object, name: string) => (headers as Record<string, string>)[name], keys: Object.keys };

export interface TracingOptions extends OtlpOptions {
  /** The pattern of an answered request's path, if it is known. Parameters are inputs, which must not be in a trace. */
  readonly patternOf: (request: IncomingMessage) => string | undefined;
}

/** Registers nothing of the SDK globally: plugins may trace on their own. */
export function createTracing({ patternOf, ...options }: TracingOptions): Tracing {
  const provider = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(createOtlpExporter(options))],
  });
  const tracer = provider.getTracer("payphone");
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();
  /** The requests that have steps. */
  const calls = new WeakSet<Span>();

  return {
    wrap: (listener) => (request, response) => {
      if (UNTRACED.test(request.url ?? "")) return listener(request, response);
      const outer = propagator.extract(ROOT_CONTEXT, request.headers, NAMED);
      const attributes = { "http.request.method": request.method ?? "" };
      const span = tracer.startSpan(`HTTP ${request.method}`, { kind: SpanKind.SERVER, attributes }, outer);
      const within = spans.setSpan(outer, span);
      onAnswer(response, () => {
        if (!calls.has(span)) return;
        const answer = tracer.startSpan("answer", {}, within);
        response.once("close", () => answer.end());
      });
      response.once("close", () => {
        span.setAttribute("http.response.status_code", response.statusCode);
        const path = patternOf(request);
        if (path !== undefined) span.setAttribute("url.path", path); // An unknown one may be a service's, mistyped.
        if (response.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      });
      contexts.with(within, () => listener(request, response));
    },
    async trace(step, work) {
      const around: Context = contexts.active();
      const parent = spans.getSpan(around);
      if (!parent) return work(); // Background work has no request.
      calls.add(parent);
      const span = tracer.startSpan(step, {}, around);
      try {
        return await contexts.with(spans.setSpan(around, span), work);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: Problem.from(error).code });
        throw error;
      } finally {
        span.end();
      }
    },
    async close() {
      await provider.shutdown();
      contexts.disable();
    },
  };
}

/** Calls back before the head of the answer is written. */
function onAnswer(response: ServerResponse, begin: () => void): void {
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = (...head: unknown[]) => {
    begin();
    return writeHead(...head);
  };
}
