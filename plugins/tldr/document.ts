import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import PQueue from "p-queue";
import { Problem } from "#plugin";

/** A document that somebody else has written, and that takes a parser to read. */
export type Source =
  | { readonly kind: "html"; readonly html: string; readonly url: string }
  | { readonly kind: "pdf"; readonly bytes: Uint8Array };

/** Reads the text of a document. @throws Problem `unparseable-input`; the signal's reason. */
export type ReadDocument = (source: Source, signal: AbortSignal) => Promise<string>;

/** What a reading process is told. */
export interface Task {
  readonly source: Source;
  /** Of the resident memory of the whole process, a fifth of which is Node's own. */
  readonly limitBytes: number;
}

const LIMIT_MS = 3000;
const LIMIT_MB = 512;

/**
 * Reads documents in processes, one process a document. A hostile page keeps a parser busy for minutes or fills the memory, and
 * a thread that runs out of memory takes all others with it; a process ends alone, after 3 seconds or at its limit. Two of
 * them run at once, or as many as there are processors; the other documents wait.
 */
export function createReadDocument(): ReadDocument {
  const queue = new PQueue({ concurrency: Math.max(2, availableParallelism()) });
  return (source, signal) => queue.add(() => readInProcess(source, signal), { signal });
}

/** The process inherits nothing: no environment, no standard streams, no right to write files or to start processes. */
function readInProcess(source: Source, signal: AbortSignal): Promise<string> {
  const reader = fork(join(import.meta.dirname, "document-process.ts"), {
    env: {},
    execArgv: ["--permission", "--allow-fs-read=*", "--allow-worker"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    timeout: LIMIT_MS,
    killSignal: "SIGKILL",
    signal,
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  reader.once("message", (text) => resolve(text as string));
  reader.once("exit", (status, killer) => reject(new Problem("unparseable-input", explain(status, killer))));
  // Of a call that has ended nothing more is expected: the queue has told its caller.
  reader.on("error", (cause) => reject(new Problem("unavailable", "No document can be read now", { cause })));
  reader.send({ source, limitBytes: LIMIT_MB * 2 ** 20 } satisfies Task);
  return promise.finally(() => reader.kill("SIGKILL"));
}

/** A process that has run out of memory ends with many a status, and by itself. */
function explain(status: number | null, killer: NodeJS.Signals | null): string {
  if (killer === "SIGKILL") return `The document cannot be read within ${LIMIT_MS / 1000} seconds`;
  if (status === 1) return "The document is damaged or protected: it cannot be read";
  return `The document cannot be read in ${LIMIT_MB} MB of memory`;
}
