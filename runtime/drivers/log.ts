import pino from "pino";
import type { Log } from "../api/capabilities.ts";

export interface LogOptions {
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Texts that must never be written: private keys, and URLs with a key. Removed everywhere, also inside messages. */
  readonly secrets?: readonly string[];
  /** Receives whole lines; standard output by default. */
  readonly destination?: { write(line: string): void };
}

const REMOVED = "[removed]";
const UNREADABLE = "[cannot be read]";
/** Names of fields in lower case, without `-` and `_`. */
const SECRET_FIELDS = new Set([
  "apikey",
  "authorization",
  "cookie",
  "mnemonic",
  "password",
  "payload",
  "payment",
  "paymentpayload",
  "paymentsignature",
  "privatekey",
  "secret",
  "secretkey",
  "xpayment",
]);
const MAX_CAUSES = 5;
const MAX_DEPTH = 8;
const MIN_SECRET = 8;
/** How much waits in memory for a disk that is full, or for a reader that has stopped; more is lost. */
const MAX_WAITING = 2 ** 20;
/** How often what waits is tried again when nothing else is logged. */
const RETRY_MS = 250;
/** What is left of a text in a line that would otherwise be lost: an error may repeat all that a source has answered. */
const MAX_TEXT = 2 ** 14;

/** A log to which secrets can be added later. */
export interface OpenLog extends Log {
  /** Removes these texts, too, from all later lines. */
  conceal(secrets: readonly string[]): void;
}

/** A log with one JSON object per line: `{level, time, event, …fields}`. Errors are written with their causes. */
export function createLog({ level = "info", secrets = [], destination }: LogOptions = {}): OpenLog {
  const eraser = createEraser(secrets);
  const complain = createComplaint();
  const out = destination ?? openStdout(complain);
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "event",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withoutSecrets },
      serializers: { error: (error: unknown) => readable(() => toErrorFields(error)) },
      hooks: { streamWrite: (line) => shortened(eraser.erase(line)) },
    },
    out,
  );
  const write = (level: keyof Log, event: string, fields: object = {}): void => {
    try {
      logger[level](fields, event);
    } catch (error) {
      complain(error as Error);
    }
  };
  return {
    info: (event, fields) => write("info", event, fields),
    warn: (event, fields) => write("warn", event, fields),
    error: (event, fields) => write("error", event, fields),
    conceal: eraser.conceal,
  };
}

/**
 * Standard output. Nothing waits for a reader of the log that has stopped, such as a collector that hangs: Node makes a pipe
 * non-blocking when it opens `process.stdout`, and by default pino would then sleep until the pipe has room.
 */
function openStdout(complain: (error: Error) => void): { write(line: string): void } {
  const fd = process.stdout.fd ?? 1; // It has none in a worker thread.
  const stream = pino.destination({ fd, sync: true, maxLength: MAX_WAITING, retryEAGAIN: () => false });
  let isWaiting = false;
  const write = (line: string): void => {
    try {
      stream.write(line);
    } catch (error) {
      complain(isBehind(error) ? new Error("its reader does not keep up", { cause: error }) : (error as Error));
      if (!isWaiting) setTimeout(again, RETRY_MS).unref();
      isWaiting = true;
    }
  };
  function again(): void {
    isWaiting = false;
    write("");
  }
  return { write };
}

const isBehind = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "EAGAIN";

/** A log that cannot be written, for instance on a full disk, must not fail the call that it is about. */
export function createComplaint(): (error: Error) => void {
  let isKnown = false;
  return ({ message }) => {
    if (!isKnown) console.error(`payphone: the log cannot be written: ${message}`);
    isKnown = true;
  };
}

/** Removes the secrets from a line, in their JSON-escaped form. */
function createEraser(first: readonly string[]): {
  erase(line: string): string;
  conceal(more: readonly string[]): void;
} {
  let written: readonly string[] = [];
  const conceal = (more: readonly string[]): void => {
    const long = more.filter((secret) => secret.length >= MIN_SECRET);
    const inJson = long.map((secret) => JSON.stringify(secret).slice(1, -1));
    written = [...new Set([...written, ...inJson])].sort((a, b) => b.length - a.length);
  };
  conceal(first);
  return { conceal, erase: (line) => written.reduce((text, secret) => text.replaceAll(secret, REMOVED), line) };
}

const canWait = (line: string): boolean => Buffer.byteLength(line) <= MAX_WAITING;

/** A line that is too long to be written, with its texts cut; where that is not enough, what it is about. */
function shortened(line: string): string {
  if (canWait(line)) return line;
  const cut = `${JSON.stringify(JSON.parse(line), (_name, value) => (typeof value === "string" ? shortText(value) : value))}\n`;
  if (canWait(cut)) return cut;
  const { level, time, id, event } = JSON.parse(cut);
  return `${JSON.stringify({ level, time, id, event, cut: `a line of ${line.length} characters` })}\n`;
}

function shortText(text: string): string {
  const more = text.length - MAX_TEXT;
  return more > 0 ? `${text.slice(0, MAX_TEXT)}… [${more} more characters]` : text;
}

/** A copy without secret fields, at any depth. Own code, because pino's redaction doubles the cost of a logged call. */
function withoutSecrets(fields: Record<string, unknown>, depth = 0): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const isSecret = SECRET_FIELDS.has(name.toLowerCase().replaceAll(/[-_]/g, ""));
    kept[name] = isSecret ? REMOVED : readable(() => withoutInner(value, depth));
  }
  return kept;
}

function withoutInner(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null || value instanceof Error || "toJSON" in value) return value;
  if (depth === MAX_DEPTH) return "[too deep]";
  if (Array.isArray(value)) return value.map((item) => withoutInner(item, depth + 1));
  return withoutSecrets(value as Record<string, unknown>, depth + 1);
}

/** What a plugin has thrown or logs may throw itself when it is read; the line is written without it. */
function readable(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return UNREADABLE;
  }
}

/** The message, stack and causes of an error. Other fields are dropped, since libraries put whole requests there. */
function toErrorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return withoutInner(error, depth);
  const { name, message, stack, cause } = error;
  const code = "code" in error ? error.code : undefined;
  return {
    name,
    message,
    ...(code !== undefined && { code }),
    stack,
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: toErrorFields(cause, depth + 1) }),
  };
}
