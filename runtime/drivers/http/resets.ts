import type { buildConnector } from "undici";

/**
 * Connects as `connect` does, and lets a reset break off the answer that is being read. undici takes a reset for the end
 * of an answer whose length nothing says; it is not the end where the connection has failed (RFC 9112, section 8).
 */
export const withResets =
  (connect: buildConnector.connector): buildConnector.connector =>
  (target, callback) =>
    connect(target, (...made) => {
      made[1]?.on("error", renameReset); // Before undici listens, which judges by the code.
      callback(...made);
    });

function renameReset(error: NodeJS.ErrnoException): void {
  if (error.code === "ECONNRESET") error.code = "EPIPE";
}
