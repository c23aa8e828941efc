/** The message of a worker that has begun to sell. */
export interface ReadyMessage {
  readonly url: string;
  /** The text to print about it. */
  readonly banner: string;
}

/**
 * The option with which all workers but the first start. They sell the set that is sold already, because the folder's
 * changes may not be applied yet.
 */
export const AS_SOLD = "--as-sold";

/** The message that tells a worker to stop. */
export const STOP = "stop";

export const isReady = (message: unknown): message is ReadyMessage =>
  typeof message === "object" && message !== null && "url" in message && typeof message.url === "string";
