import { setTimeout as sleep } from "node:timers/promises";
import PQueue from "p-queue";
import { Problem } from "../../api/problem.ts";
import type { JsonObject } from "../../core/json.ts";
import { createGate, LONGEST_REST_MS } from "../upstream/gate.ts";
import { type Pace, UNLIMITED } from "../upstream/pace.ts";
import type { UpstreamOptions } from "../upstream/upstream.ts";
import { createChangedTools, type SentCall } from "./changed-tools.ts";
import type { McpConnection } from "./connection.ts";
import type { CallFailure } from "./failures.ts";
import { killAll, treeOf, watchMemory } from "./process-tree.ts";
import { filesIn } from "./result.ts";
import type { ProcessSlots, SlotHolder } from "./slots.ts";

type Result = Awaited<ReturnType<McpConnection["call"]>>;
type Judge = (failure: CallFailure) => boolean | undefined;

/** An MCP server whose tools are sold. Connected at the first call; all calls share the session. */
export interface LiveMcpServer extends Pick<Pace, "waitMs"> {
  readonly id: string;
  readonly title: string;
  /**
   * Calls a tool.
   * @param isRepeatable whether it may be called once more when its connection over HTTP breaks
   * @returns the result of `tools/call`, which may have `isError`
   * @throws Problem `upstream-failed` or `unavailable` when no result came; the signal's reason when it is aborted.
   */
  call(tool: string, input: JsonObject, signal: AbortSignal, isRepeatable?: boolean): Promise<Result>;
  /** Opens the session, if it is not open. @throws Problem when such a call would fail without having been made. */
  ready(call: SentCall): Promise<void>;
  /** Why the server is not asked at present; undefined when it is. */
  outage(): string | undefined;
  /** Ends the session and its process. */
  close(): Promise<void>;
}

export interface ToolServerOptions extends Pick<UpstreamOptions, "id" | "title" | "pace" | "clock" | "log"> {
  /** Undefined when the address is not configured. */
  readonly connect: (() => Promise<McpConnection>) | undefined;
  /** The reason when `connect` is undefined. */
  readonly unset: string;
  readonly timeoutMs: number;
  /** How many calls may run concurrently; further calls wait. */
  readonly calls: number;
  /** The most memory of its process and the child processes; Linux only. */
  readonly memoryBytes: number;
  /** Whether a text contains one of the server's credentials. */
  readonly repeatsCredential: (text: Uint8Array) => boolean;
  /** Limits the number of processes; undefined for a server over HTTP. */
  readonly slots: ProcessSlots | undefined;
  /** Whether it is asked again at once after a failure, without pauses. */
  readonly neverRests?: boolean | undefined;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
/** A failure later than this after a session began has nothing to do with those before it. */
const STEADY_MS = 60_000;
/** How long a killed process may take to end. */
const KILL_MS = 1000;
const LONGEST_REASON = 300;
const FAILED = "has failed and is not asked for a while";

/** A server that is connected on demand, with growing pauses after failures. */
export function createToolServer(options: ToolServerOptions): LiveMcpServer {
  const { id, title, connect, unset, timeoutMs, slots, pace = UNLIMITED, clock, log } = options;
  const queue = new PQueue({ concurrency: options.calls });
  const changes = createChangedTools(options, { clock, log });
  let opened: Promise<McpConnection> | undefined;
  /** The current session; undefined when there is none. */
  let live: McpConnection | undefined;
  /** How many calls are at work in each session. */
  const atWork = new WeakMap<McpConnection, number>();
  let failures = 0;
  let startedAt = Number.POSITIVE_INFINITY; // When the newest session began, until something fails.
  const gate = createGate(clock);
  let why = FAILED;
  /** The pauses that the server asks for. */
  const busy = createGate(clock);
  let lastUsed = 0;
  let isInDoubt = false;
  let isClosed = false;

  const holder: SlotHolder = {
    isIdle: () => queue.size + queue.pending === 0 && (!opened || live !== undefined),
    lastUsed: () => lastUsed,
    stop: () => end(),
  };

  return {
    id,
    title,
    async call(tool, input, signal, isRepeatable = false) {
      signal.throwIfAborted();
      const isPassing: Judge = (failed) => failed.isForgotten || (isRepeatable && failed.isBroken);
      const work = () => pace.turn(signal, false).then(() => callOnce(tool, input, signal, isPassing));
      return await queue.add(work, { signal });
    },
    async ready(asked) {
      const known = live;
      const session = await open();
      // Nothing tells that a server over HTTP has gone: somebody would pay first for a call that cannot be made.
      if (session === known && !slots && !(await session.isAlive(timeoutMs))) await leave(session);
      await changes.refuse(asked, await open());
    },
    waitMs: pace.waitMs,
    outage() {
      if (!connect) return unset;
      const asked = busy.refusal();
      if (asked) return `${title} ${asked.reason}`;
      return gate.refusal() ? `${title} ${why}` : undefined;
    },
    async close() {
      isClosed = true;
      await end();
    },
  };

  /** Calls a tool, and once more in a new session after a passing failure, such as a forgotten session. */
  async function callOnce(tool: string, input: JsonObject, signal: AbortSignal, isPassing: Judge): Promise<Result> {
    lastUsed = clock.now();
    const session = await open();
    const begun = performance.now();
    atWork.set(session, (atWork.get(session) ?? 0) + 1);
    try {
      const result = await session.call(tool, input, { signal, timeoutMs });
      refuseSecrets(Buffer.from(JSON.stringify(result)), ...filesIn(result));
      const gone = result.isError && (await changes.explain({ tool, input }, JSON.stringify(result.content), session));
      if (gone) throw gone;
      return result;
    } catch (error) {
      // A caller's time is often up before the server's: without this, a hanging server would never count as late.
      if (signal.aborted) void endIfDead(session, begun + timeoutMs - performance.now());
      signal.throwIfAborted();
      if (error instanceof Problem) throw error;
      const failure = await takeFailure(session, error);
      if (isPassing(failure)) return callOnce(tool, input, signal, () => false);
      refuseSecrets(Buffer.from((error as Error).message));
      throw (await changes.explain({ tool, input }, failure.words ?? "", session)) ?? failure.problem;
    } finally {
      lastUsed = clock.now();
      atWork.set(session, (atWork.get(session) ?? 1) - 1);
      if (!slots && live !== session) await leave(session);
    }
  }

  /** Reads the client's error, and does what it asks for: a pause, or the end of a session that is lost or hangs. */
  async function takeFailure(session: McpConnection, error: unknown): Promise<CallFailure> {
    const { toCallProblem } = await import("./failures.ts"); // Needs the SDK, which is loaded now.
    const failure = toCallProblem(error, title, session.askedMs?.());
    const { isSessionLost, isLate, restMs = 0 } = failure;
    if (!options.neverRests) busy.rest(Math.min(restMs, LONGEST_REST_MS));
    if (isSessionLost && (await opened?.catch(() => undefined)) === session) await (slots ? end(true) : leave(session));
    if (isLate) void endIfDead(session);
    return failure;
  }

  /** Opens no further calls in a session over HTTP. Only one of its calls may have failed: it is closed after the last one. */
  async function leave(session: McpConnection): Promise<void> {
    if (live === session) live = opened = undefined;
    if (!atWork.get(session)) await session.close().catch(() => {});
  }

  /** Ends a process that no longer answers: a later call starts a new one. @param leftMs the rest of the call's own time */
  async function endIfDead(session: McpConnection, leftMs = 0): Promise<void> {
    if (isInDoubt || session.pid === undefined) return;
    isInDoubt = true;
    const isAlive = await session.isAlive(timeoutMs + Math.max(0, leftMs)).catch(() => false);
    isInDoubt = false;
    if (isAlive || (await opened?.catch(() => undefined)) !== session) return;
    pause("it answers nothing");
    await end(true);
  }

  /** @throws Problem `upstream-failed` for a text or a file that contains a credential. */
  function refuseSecrets(...parts: readonly Uint8Array[]): void {
    if (!parts.some((part) => options.repeatsCredential(part))) return;
    log.error("upstream.repeats-credential", { upstream: id });
    throw new Problem("upstream-failed", `${title}'s answer contains a secret and is withheld`);
  }

  function open(): Promise<McpConnection> {
    if (isClosed || !connect) throw new Problem("unavailable", isClosed ? "The server is closing" : unset);
    const asked = busy.refusal();
    const paused = asked ?? (opened ? undefined : gate.refusal());
    const retryAfter = Math.ceil((paused?.waitMs ?? 0) / 1000);
    if (paused) throw new Problem("unavailable", `${title} ${asked?.reason ?? why}`, { retryAfter });
    opened ??= start(connect);
    return opened;
  }

  async function start(connectNow: () => Promise<McpConnection>): Promise<McpConnection> {
    try {
      await slots?.take(holder);
      const session = await connectNow();
      live = session;
      const stopWatch = watchMemory(session.pid, options.memoryBytes, (bytes) =>
        log.error("mcp.memory", { upstream: id, bytes, most: options.memoryBytes }),
      );
      startedAt = clock.now();
      void session.ended.then(() => {
        stopWatch();
        if (live !== session) return; // Ended on purpose; another session may have replaced it.
        live = opened = undefined;
        slots?.free(holder);
        pause("its session ended");
      });
      return session;
    } catch (error) {
      opened = undefined;
      slots?.free(holder);
      if (error instanceof Problem) throw error;
      const { askedMs, message } = error as Error & { readonly askedMs?: number };
      if (!options.neverRests) busy.rest(Math.min(askedMs ?? 0, LONGEST_REST_MS));
      const { toStartProblem } = await import("./failures.ts");
      const problem = toStartProblem(error, title, askedMs);
      pause(message.slice(0, LONGEST_REASON), problem.code === "internal");
      throw problem;
    }
  }

  function pause(reason: string, isRefused = false): void {
    failures = clock.now() - startedAt > STEADY_MS ? 1 : failures + 1;
    startedAt = Number.POSITIVE_INFINITY;
    why = isRefused ? "refuses the credential that it is sent" : FAILED;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    if (!options.neverRests) gate.rest(pauseMs);
    if (!isClosed) log.warn("mcp.down", { upstream: id, reason, pauseMs });
  }

  /** Ends the session and all its processes. @param isBroken whether the session is dead, so that nothing is awaited */
  async function end(isBroken = false): Promise<void> {
    const ending = opened;
    live = opened = undefined;
    const session = await ending?.catch(() => undefined);
    if (!session) return;
    const pids = session.pid === undefined ? [] : treeOf(session.pid);
    if (isBroken) killAll(pids);
    if (live === session) live = undefined; // Opened meanwhile.
    await session.close().catch(() => {});
    killAll(pids);
    await Promise.race([session.ended, sleep(KILL_MS, undefined, { ref: false })]);
    if (opened === undefined) slots?.free(holder);
  }
}
