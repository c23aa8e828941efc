import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

/** A complete answer to a request. */
export interface WholeAnswer {
  readonly status: number;
  /** The body as UTF-8. */
  readonly text: string;
  readonly headers: IncomingHttpHeaders;
}

/** The limits of a request. */
export interface ExchangeBounds {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  /** Makes the error for an answer with more bytes. */
  readonly tooLarge: () => Error;
}

/**
 * Sends a request and collects its answer with undici's callbacks, because undici's streams double the cost of a
 * request. A request that still waits for a connection when the signal is aborted is never sent.
 * @throws the signal's reason, `tooLarge()`, or an error of undici
 */
export function exchange(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { signal, maxBytes, tooLarge }: ExchangeBounds,
): Promise<WholeAnswer> {
  if (signal.aborted) return Promise.reject(signal.reason);
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  const chunks: Buffer[] = [];
  let size = 0;
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  let running: Dispatcher.DispatchController | undefined;
  const abort = (): void => {
    running?.abort(signal.reason);
    reject(signal.reason);
  };
  signal.addEventListener("abort", abort, { once: true });
  pool.dispatch(request, {
    onRequestStart(controller) {
      running = controller;
      if (signal.aborted) controller.abort(signal.reason);
    },
    onResponseStart(_controller, statusCode, received) {
      status = statusCode;
      headers = received;
    },
    onResponseData(controller, chunk) {
      size += chunk.length;
      if (size > maxBytes) controller.abort(tooLarge());
      else chunks.push(chunk);
    },
    onResponseEnd() {
      const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      resolve({ status, headers, text: body.toString() });
    },
    onResponseError: (_controller, error) => reject(error),
  });
  return promise.finally(() => signal.removeEventListener("abort", abort));
}
