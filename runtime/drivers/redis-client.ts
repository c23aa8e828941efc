import { within } from "../core/deadline.ts";

/** The longest that an answer of Redis may take: afterwards it counts as gone. */
export const PATIENCE_MS = 2000;
/** Between two attempts to connect. */
const LONGEST_DELAY_MS = 1000;

/** What ending a client of node-redis needs of it. */
export interface EndableClient {
  readonly isReady: boolean;
  destroy(): void;
  once(event: "ready", listener: () => void): unknown;
}

/** How a client comes back to Redis, until it is ended. */
export interface Reconnection {
  /** For the socket's options: the delay before the next attempt in milliseconds, and false after the end. */
  readonly strategy: (retries: number) => number | false;
  /** Lets no attempt follow. */
  stop(): void;
  /**
   * Stops, and closes the connection. A client that is destroyed while it connects is connected afterwards, and keeps the
   * process: one that is not ready ends when its attempt does.
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

/** Rejects when the work takes too long; Redis may do it all the same. */
export const answered = <T>(work: Promise<T>): Promise<T> =>
  within(PATIENCE_MS, work, () => new Error(`Redis did not answer within ${PATIENCE_MS} ms`));
