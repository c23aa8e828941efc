import { type ChildProcess, fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import PQueue from "p-queue";
import { Problem } from "#plugin";
import { type DocumentSource, type DocumentText, type ReadTask, STATUS } from "./document-task.ts";

/** Reads the text of a document. @throws Problem `unparseable-input`, `unavailable`; the signal's reason. */
export type ReadDocument = (source: DocumentSource, signal: AbortSignal) => Promise<DocumentText>;

export interface ReadLimits {
  readonly cpuMs?: number;
  /**
   * The limit of wall-clock time. It is exceeded before the processor time only on a busy machine, so the error does
   * not blame the document.
   */
  readonly wallMs?: number;
}

const LIMIT_MB = 512;

/**
 * Reads each document in a process of its own, because a hostile page can keep a parser busy for minutes or fill the
 * memory, and a thread out of memory ends the whole server. A process exits after 3 seconds of processor time or at its
 * memory limit, and is killed after 20 seconds. As many processes run at once as there are processors, at least two;
 * further documents wait.
 */
export function createReadDocument({ cpuMs = 3000, wallMs = 20_000 }: ReadLimits = {}): ReadDocument {
  const queue = new PQueue({ concurrency: Math.max(2, availableParallelism()) });
  return (source, signal) => queue.add(() => readInProcess(source, { cpuMs, wallMs }, signal), { signal });
}

/** The process has no environment, no standard streams, and may not write files or start processes. */
function readInProcess(
  source: DocumentSource,
  { cpuMs, wallMs }: Required<ReadLimits>,
  signal: AbortSignal,
): Promise<DocumentText> {
  const { promise, resolve, reject } = Promise.withResolvers<DocumentText>();
  const fail = (cause: unknown): void => reject(new Problem("unavailable", "No document can be read now", { cause }));
  const tooLate = setTimeout(() => reject(toBusy()), wallMs);
  let reader: ChildProcess | undefined;
  try {
    reader = fork(join(import.meta.dirname, "document-process.ts"), {
      env: {},
      execArgv: ["--permission", "--allow-fs-read=*", "--allow-worker"],
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "advanced",
      killSignal: "SIGKILL",
      signal,
    });
    reader.once("message", (read) => resolve(read as DocumentText));
    reader.once("exit", (status) => reject(new Problem("unparseable-input", explain(status, cpuMs))));
    reader.on("error", fail);
    reader.send({ source, limitBytes: LIMIT_MB * 2 ** 20, limitCpuMs: cpuMs } satisfies ReadTask);
  } catch (cause) {
    fail(cause); // Out of memory or of file descriptors: Node throws, or gives a process that nothing can be sent to.
  }
  return promise.finally(() => {
    clearTimeout(tooLate);
    // A process that did not start has no number, and to kill it would kill this server's group.
    if (reader?.pid !== undefined) reader.kill("SIGKILL");
  });
}

const toBusy = (): Problem =>
  new Problem("unavailable", "The machine is too busy to read the document now", { retryAfter: 10 });

/** Any other status counts as out of memory, because V8 and the kernel end a process in different ways. */
function explain(status: number | null, cpuMs: number): string {
  if (status === STATUS.time) return `The document cannot be read within ${cpuMs / 1000} seconds`;
  if (status === STATUS.failed) return "The document is damaged or protected: it cannot be read";
  return `The document cannot be read in ${LIMIT_MB} MB of memory`;
}
