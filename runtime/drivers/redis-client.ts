import { Problem } from "../api/problem.ts";
import { createDeadline, untilAborted } from "../core/time/deadline.ts";
import { createRounds, type Rounds } from "../core/time/rounds.ts";

/** The longest time that Redis may take to answer: afterwards it counts as unreachable. */
export const PATIENCE_MS = 2000;
/** The pause between two pings of a connection. */
const PING_MS = 1000;
/** A connection is closed when nothing was sent nor received for so long: longer than this process may be stalled. */
const SILENCE_MS = 6000;
/** The longest delay between two attempts to connect. */
const LONGEST_DELAY_MS = 1000;

/** The part of node-redis's client that ending it needs. */
export interface EndableClient {
  readonly isReady: boolean;
  destroy(): void;
  once(event: "ready", listener: () => void): unknown;
}

/** The part of node-redis's client that watching it needs. */
export interface WatchedClient {
  readonly isReady: boolean;
  ping(): Promise<unknown>;
  destroy(): void;
  connect(): Promise<unknown>;
}

/** The reconnection of a client, until it is ended. */
export interface Reconnection {
  /** For the socket's options: the delay before the next attempt in milliseconds; false after the end. */
  readonly strategy: (retries: number) => number | false;
  /** Prevents further attempts. */
  stop(): void;
  /**
   * Stops, and closes the connection. Only a ready client is destroyed: one that is still connecting would connect
   * afterwards and keep the process alive, so it ends when its attempt fails or succeeds.
   */
  end(client: EndableClient): void;
}

export function createReconnection(): Reconnection {
  let isOver = false;
  return {
    strategy: (retries) => !isOver && Math.min(2 ** retries * 20, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2),
    stop() {
      isOver = true;
    },
    end(client) {
      isOver = true;
      if (client.isReady) client.destroy();
      else client.once("ready", () => client.destroy());
    },
  };
}

/** The options of a client that commands are sent with. They are not queued while it is not connected. */
export interface ClientOptions {
  readonly url: string;
  readonly disableOfflineQueue: true;
  readonly socket: {
    readonly connectTimeout: number;
    readonly socketTimeout: number;
    readonly reconnectStrategy: Reconnection["strategy"];
  };
}

export const toClientOptions = (url: string, { strategy }: Reconnection): ClientOptions => ({
  url,
  disableOfflineQueue: true,
  socket: { connectTimeout: PATIENCE_MS, socketTimeout: SILENCE_MS, reconnectStrategy: strategy },
});

const patience = createDeadline(PATIENCE_MS);
const SILENT = `Redis did not answer within ${PATIENCE_MS} ms`;

/** Rejects when the work takes too long, although Redis may still do it. A stall of this process does not count. */
export function answered<T>(work: Promise<T>): Promise<T> {
  const late = patience();
  return untilAborted(work, late).catch((error: unknown) => {
    throw error === late.reason ? new Error(SILENT) : error;
  });
}

/**
 * Pings a connection, and replaces it when a ping is not answered in time. The client's own timeout would not do: each
 * command that is sent puts it off, so that a busy connection on which nothing is answered would stay.
 */
export function watchConnection(client: WatchedClient, onSilence: (error: Error) => void): Rounds {
  const rounds = createRounds(async () => {
    const late = patience();
    if (client.isReady) await untilAborted(client.ping(), late).catch(() => {}); // Other errors close it anyway.
    if (late.aborted && client.isReady && !rounds.isClosed()) {
      onSilence(new Error(SILENT));
      client.destroy();
      client.connect().catch(() => {}); // It was closed meanwhile.
    }
    return PING_MS;
  });
  rounds.start(PING_MS);
  return rounds;
}

const SENTINEL = "Redis runs as a Sentinel: name in REDIS_URL an address that leads to the master it watches";

/**
 * A Sentinel answers, but keeps nothing. @throws Problem `unavailable` when INFO's section `server` is that of one: Valkey calls
 * the mode `server_mode`.
 */
export function refuseSentinel(server: string): void {
  if (/^(?:redis|server)_mode:sentinel$/m.test(server)) throw new Problem("unavailable", SENTINEL, { retryAfter: 5 });
}
