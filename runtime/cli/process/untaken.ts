import type { Worker } from "node:cluster";

/** A connection as Node hands it to a worker: closing it again does nothing. */
interface Handed {
  close(): void;
}

/**
 * Closes the connections that were handed to a worker which has died before it took them. Node keeps them open, and their
 * callers would wait for ever. Of each listener one connection at a time is on its way to a worker.
 */
export function closeUntaken(worker: Worker): void {
  const { process: child } = worker;
  if (child.send === undefined) return; // It could not be started.
  const untaken = new Map<unknown, Handed>();
  const send = child.send.bind(child) as (...sent: readonly unknown[]) => boolean;
  child.send = (message: unknown, handle?: unknown, ...rest: readonly unknown[]): boolean => {
    const { act, key } = (message ?? {}) as { readonly act?: unknown; readonly key?: unknown };
    if (act === "newconn") untaken.set(key, handle as Handed);
    return send(message, handle, ...rest);
  };
  worker.once("exit", () => {
    for (const handle of untaken.values()) handle.close();
  });
}
