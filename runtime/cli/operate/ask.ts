import { readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { text as readText } from "node:stream/consumers";
import { PROBLEMS, Problem, type ProblemCode } from "../../api/problem.ts";
import { request } from "../../server/request/node-http.ts";
import { failureAt, isTooLong, SOCKET, toSocketPath } from "../process/sockets.ts";

/** The admin sockets of the processes on a data directory: those of `serve`, or else those of a sandbox. */
export async function findProcesses(dataDir: string): Promise<readonly string[]> {
  const sockets = [dataDir, join(dataDir, "sandbox")].map(socketsIn);
  for (const found of sockets) {
    const failures = await Promise.all(found.map(failureAt));
    const living = found.filter((_path, at) => failures[at] === undefined);
    if (living.length > 0) return living;
    const foreign = found[failures.indexOf("EACCES")];
    if (foreign !== undefined)
      throw new Problem("unavailable", `${foreign} cannot be opened (EACCES): give the command as the server's user`);
  }
  return [];
}

/** Whether the processes on a data directory are those of a sandbox. */
export async function isSandbox(dataDir: string): Promise<boolean> {
  const [first] = await findProcesses(dataDir);
  return first !== undefined && dirname(resolve(first)) === resolve(dataDir, "sandbox");
}

function socketsIn(dir: string): readonly string[] {
  const names = list(dir).filter((name) => /^admin(-\d+)?\.sock$/.test(name));
  return names.sort().map((name) => toSocketPath(join(dir, name)));
}

function list(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new Problem(
      "unavailable",
      `${dir} cannot be read (${code}): is PAYPHONE_DATA_DIR right, and is this the server's user?`,
    );
  }
}

/** Like `findProcesses`. @throws Problem `unavailable` when no process runs. */
export async function requireProcesses(dataDir: string): Promise<readonly [string, ...string[]]> {
  const [first, ...others] = await findProcesses(dataDir);
  if (first !== undefined) return [first, ...others];
  const where = `No payphone runs on ${dataDir} on this machine`;
  const hint = isTooLong(toSocketPath(join(dataDir, SOCKET)))
    ? ", or none that can be asked: the path of its socket is too long, so set a shorter PAYPHONE_DATA_DIR"
    : `: "payphone serve" starts one`;
  throw new Problem("unavailable", where + hint);
}

/** A change may wait for calls in flight. */
const PATIENCE_MS = 120_000;
/** Whoever asks all processes waits this long for one that hangs. */
const PATIENCE_FOR_EACH_MS = 15_000;

type Method = "GET" | "POST";

/** What the processes on a data directory answered. */
export interface Answers<T> {
  readonly answers: readonly [T, ...T[]];
  /** A line for each process that died, hangs or refused. */
  readonly silent: readonly string[];
}

/** Asks every process on this machine. @throws Problem of the first one when none answers; `unavailable` when none runs. */
export async function askAll<T>(dataDir: string, method: Method, path: string, body?: object): Promise<Answers<T>> {
  const sockets = await requireProcesses(dataDir);
  const asked = await Promise.allSettled(
    sockets.map((socket) => askProcess<T>(socket, method, path, body, PATIENCE_FOR_EACH_MS)),
  );
  const failures = asked.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
  const [first, ...others] = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  if (first === undefined) throw failures[0];
  const silent = failures.map((failure) => `one process is missing here: ${Problem.from(failure).message}`);
  return { answers: [first, ...others], silent };
}

/**
 * Sends a request to a process's admin socket. @throws Problem as the process answered it; `unavailable` when it is
 * gone.
 */
export async function askProcess<T>(
  socketPath: string,
  method: Method,
  path: string,
  body?: object,
  patienceMs: number = PATIENCE_MS,
): Promise<T> {
  const { status, text } = await exchange(socketPath, method, path, body, patienceMs);
  if (status < 400) return JSON.parse(text) as T;
  const { code, detail } = readProblem(text);
  throw new Problem(code in PROBLEMS ? (code as ProblemCode) : "unavailable", detail);
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const UNCLEAR = `. It may still do what it was told: ask "payphone status", and restart it if it does not answer`;

function exchange(
  socketPath: string,
  method: string,
  path: string,
  body: object | undefined,
  patienceMs: number,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const signal = AbortSignal.timeout(patienceMs);
  const fail = (error: Error): void => {
    const unclear = method === "POST" ? UNCLEAR : "";
    const why = signal.aborted ? `no answer within ${patienceMs / 1000} s${unclear}` : error.message;
    reject(new Problem("unavailable", `${socketPath}: ${why}`, { cause: error }));
  };
  const asked = request({ socketPath, method, path, signal }, (response) => {
    const { statusCode: status = 0 } = response;
    readText(response).then((text) => resolve({ status, text }), fail);
  });
  asked.once("error", fail).end(body && JSON.stringify(body));
  return promise;
}

function readProblem(text: string): { readonly code: string; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: unknown; readonly detail?: unknown };
    return { code: String(code), detail: String(detail) };
  } catch {
    return { code: "", detail: text };
  }
}
