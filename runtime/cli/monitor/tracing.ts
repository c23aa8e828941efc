import type { RequestListener } from "node:http";
import type { Log } from "../../api/capabilities.ts";
import type { AnyHandler, Run } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import type { Invoke } from "../../core/invoke.ts";
import type { TraceStep } from "../../core/trace.ts";
import type { Rail } from "../../core/x402/rails.ts";
import type { Transport } from "../../drivers/upstream/transport.ts";
import { patternOf } from "../../server/request/target.ts";
import type { Config } from "../config/config.ts";

export interface OpenTracing {
  wrap(listener: RequestListener): RequestListener;
  /** Undefined when calls are not traced. */
  readonly trace: TraceStep | undefined;
  close(): Promise<void>;
}

const NONE: OpenTracing = { wrap: (listener) => listener, trace: undefined, close: async () => {} };
/** In the versions of `peerDependencies`: npm would take the newest, which do not go together with these. */
const PACKAGES =
  "@opentelemetry/api@1.9 @opentelemetry/core@2 @opentelemetry/context-async-hooks@2 @opentelemetry/sdk-trace-base@2";

/**
 * Traces calls when OTEL_EXPORTER_OTLP_ENDPOINT names a collector; OpenTelemetry's packages are loaded only then.
 * @throws Problem `bad-request` when they are not installed.
 */
export async function openTracing({ collector }: Pick<Config, "collector">, log: Log): Promise<OpenTracing> {
  if (collector === undefined) return NONE;
  const { createTracing } = await import("../../drivers/tracing/tracing.ts").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new Problem("bad-request", `Traces need packages that are not installed: npm install ${PACKAGES}`, { cause });
  });
  return createTracing({ ...collector, log, patternOf });
}

/** Wraps handlers, so that each run is a span. */
export const traceHandlers = (handlers: ReadonlyMap<string, AnyHandler>, trace: TraceStep): Map<string, AnyHandler> =>
  new Map([...handlers].map(([name, handler]) => [name, traceHandler(handler, trace)]));

function traceHandler(handler: AnyHandler, trace: TraceStep): AnyHandler {
  const traced =
    (run: Run<never, unknown>): Run<never, unknown> =>
    (input, call) =>
      trace("run", async () => run(input, call));
  return typeof handler === "function" ? traced(handler) : { ...handler, run: traced(handler.run) };
}

/** Wraps rails, so that verifications and settlements are spans. */
export const traceRails = (rails: readonly Rail[], trace: TraceStep): Rail[] =>
  rails.map(({ facilitator, ...rail }) => ({
    ...rail,
    facilitator: {
      ...facilitator,
      verify: (...terms) => trace("verify", () => facilitator.verify(...terms)),
      settle: (...terms) => trace("settle", () => facilitator.settle(...terms)),
    },
  }));

/** Wraps calls, so that each call and the reading of its input are spans. */
export const traceInvoke =
  (invoke: Invoke, trace: TraceStep): Invoke =>
  (service, invocation) =>
    trace(`call ${service.manifest.id}`, () =>
      invoke(service, { ...invocation, input: () => trace("read", invocation.input) }),
    );

/** Wraps a transport, so that each attempt at an upstream is a span. */
export const traceTransport =
  (transport: Transport, trace: TraceStep): Transport =>
  (request) =>
    trace(`upstream ${request.upstream}`, () => transport(request));
