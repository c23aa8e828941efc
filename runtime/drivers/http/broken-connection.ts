/** Codes of Node and undici for a connection that broke: often a kept one that the server was just closing. */
const BROKEN = /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/;

/** Whether an error of a connection says that it broke. */
export const isConnectionBroken = (error: unknown): boolean =>
  BROKEN.test(String((error as { readonly code?: unknown } | null | undefined)?.code));
