import type { Transport } from "@modelcontextprotocol/client";

/** The message of the error that a request fails with when its stream ends without its answer. */
export const BROKEN_OFF = "the answer broke off";

/** A code that JSON-RPC leaves to implementations. */
const CODE = -32000;
/** How long the server has to end a stream after its answer: a connection whose stream it has ended is used again. */
const END_MS = 1000;

/**
 * Ends the stream of each request with the request. Some servers leave it open after their answer, for ever, and the client
 * would keep a connection for each call. A request whose stream ends without its answer fails: the client would wait until
 * its own time is up.
 */
export function endStreams<T extends Transport>(transport: T): T {
  const open = new Map<unknown, AbortController>();
  const end = (id: unknown): void => {
    open.get(id)?.abort();
    open.delete(id);
  };
  // The client sets its own listener later, which calls this one first.
  transport.onmessage = (message) => {
    if (!("method" in message)) setTimeout(end, END_MS, message.id).unref();
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, options) => {
    const [id] = [message].flat().flatMap((one) => ("method" in one && "id" in one ? one.id : []));
    if ("method" in message && message.method === "notifications/cancelled") end(message.params?.requestId);
    if (id === undefined) return send(message, options);
    const stream = new AbortController();
    open.set(id, stream);
    const error = { code: CODE, message: BROKEN_OFF };
    const onRequestStreamEnd = (): void => {
      open.delete(id);
      transport.onmessage?.({ jsonrpc: "2.0", id, error }); // Ignored where it was answered.
    };
    const requestSignal = AbortSignal.any([stream.signal, ...(options?.requestSignal ? [options.requestSignal] : [])]);
    return send(message, { ...options, onRequestStreamEnd, requestSignal }).catch((reason: unknown) => {
      open.delete(id);
      throw reason;
    });
  };
  return transport;
}
