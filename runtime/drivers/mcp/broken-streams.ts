import type { Transport } from "@modelcontextprotocol/client";

/** The message of the error that a request fails with when its stream ends without its answer. */
export const BROKEN_OFF = "the answer broke off";

/** A code that JSON-RPC leaves to implementations. */
const CODE = -32000;

/** Lets a request fail whose stream ends without its answer: the client would wait until its own time is up. */
export function failBroken<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const [id] = [message].flat().flatMap((one) => ("method" in one && "id" in one ? one.id : []));
    const error = { code: CODE, message: BROKEN_OFF };
    const onRequestStreamEnd = (): void => {
      if (id !== undefined) transport.onmessage?.({ jsonrpc: "2.0", id, error }); // Ignored where it was answered.
    };
    return send(message, { onRequestStreamEnd, ...options });
  };
  return transport;
}
