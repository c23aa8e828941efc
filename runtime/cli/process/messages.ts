/** What a worker tells when it sells. */
export interface ReadyMessage {
  readonly url: string;
  /** What is to be printed of what it sells. */
  readonly banner: string;
}

/** The option with which all workers but the first begin: what the folder holds may not have been applied yet. */
export const AS_SOLD = "--as-sold";

/** What a worker is told when it shall end. */
export const STOP = "stop";

export const isReady = (message: unknown): message is ReadyMessage =>
  typeof message === "object" && message !== null && "url" in message && typeof message.url === "string";
