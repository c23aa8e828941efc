import pino from "pino";
import type { Log } from "../api/capabilities.ts";

export interface LogOptions {
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Texts that must never be written: private keys, and URLs that hold a key. Removed wherever they stand, also inside messages. */
  readonly secrets?: readonly string[];
  /** Takes whole lines; standard output unless given. */
  readonly destination?: { write(line: string): void };
}

const REMOVED = "[removed]";
const SECRET_FIELDS = [
  "api_key",
  "apiKey",
  "authorization",
  "cookie",
  "mnemonic",
  "password",
  "payment",
  "payment-signature",
  "private_key",
  "privateKey",
  "secret",
  "secret_key",
  "secretKey",
  "signature",
  "x-payment",
];
/** The field itself, and inside one and two objects: deeper than any event is. */
const SECRET_PATHS = SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`]);
const MAX_CAUSES = 5;
const MIN_SECRET = 8;

/** A log of one JSON object a line: `{level, time, event, …fields}`. Errors are written with their causes. */
export function createLog({ level = "info", secrets = [], destination }: LogOptions = {}): Log {
  const logger = pino(
    {
      level,
      base: null,
      messageKey: "event",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: toErrorFields },
      redact: { paths: SECRET_PATHS, censor: REMOVED },
      hooks: { streamWrite: createEraser(secrets) },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
  return {
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => logger.error(fields ?? {}, event),
  };
}

/** Removes the secrets from a line, in the form that they have inside JSON. */
function createEraser(secrets: readonly string[]): (line: string) => string {
  const written = secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  return (line) => written.reduce((text, secret) => text.replaceAll(secret, REMOVED), line);
}

/** What an error says of itself. Its other fields are left out: libraries put whole requests there. */
function toErrorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error;
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
