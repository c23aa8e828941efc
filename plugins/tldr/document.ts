import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import PQueue from "p-queue";
import { Problem } from "#plugin";

/** An untrusted document that needs a parser. */
export type DocumentSource =
  | { readonly kind: "html"; readonly html: string; readonly url: string }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array };

/** Reads the text of a document. @throws Problem `unparseable-input`; the signal's reason. */
export type ReadDocument = (source: DocumentSource, signal: AbortSignal) => Promise<string>;

/** The message to a reading process. */
export interface ReadTask {
  readonly source: DocumentSource;
  /** Limit of the process's resident memory; Node itself takes about a fifth. */
  readonly limitBytes: number;
}

const LIMIT_MS = 3000;
const LIMIT_MB = 512;

/**
 * Reads each document in a process of its own, because a hostile page can keep a parser busy for minutes or fill the
 * memory, and a thread without memory ends the whole server. A process is killed after 3 seconds or at its memory limit.
 * As many processes run at once as there are processors, at least two; further documents wait.
 */
export function createReadDocument({ limitMs = LIMIT_MS } = {}): ReadDocument {
  const queue = new PQueue({ concurrency: Math.max(2, availableParallelism()) });
  return (source, signal) => queue.add(() => readInProcess(source, limitMs, signal), { signal });
}

/** The process has no environment, no standard streams, and may not write files or start processes. */
function readInProcess(source: DocumentSource, limitMs: number, signal: AbortSignal): Promise<string> {
  const reader = fork(join(import.meta.dirname, "document-process.ts"), {
    env: {},
    execArgv: ["--permission", "--allow-fs-read=*", "--allow-worker"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    timeout: limitMs,
    killSignal: "SIGKILL",
    signal,
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  reader.once("message", (text) => resolve(text as string));
  reader.once("exit", (status, killer) => reject(new Problem("unparseable-input", explain(limitMs, status, killer))));
  reader.on("error", (cause) => reject(new Problem("unavailable", "No document can be read now", { cause })));
  reader.send({ source, limitBytes: LIMIT_MB * 2 ** 20 } satisfies ReadTask);
  return promise.finally(() => reader.kill("SIGKILL"));
}

/** Any status but 1 is taken as out of memory: V8, the kernel and the watcher end the process in different ways. */
function explain(limitMs: number, status: number | null, killer: NodeJS.Signals | null): string {
  if (killer === "SIGKILL") return `The document cannot be read within ${limitMs / 1000} seconds`;
  if (status === 1) return "The document is damaged or protected: it cannot be read";
  return `The document cannot be read in ${LIMIT_MB} MB of memory`;
}
