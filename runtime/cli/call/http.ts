import { Problem } from "../../api/problem.ts";

/** A request to a seller. */
export interface SellerRequest {
  readonly method: string;
  readonly url: string;
  /** JSON text. */
  readonly body: string | undefined;
}

/** A seller's answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
}

/**
 * One request. Redirects are not followed: a payment is for the address that asked for it.
 * @throws Problem `upstream-failed` when no answer came; with an aborted signal, the signal's reason.
 */
export async function ask(
  { method, url, body }: SellerRequest,
  {
    headers = {},
    signal,
    timeoutMs = 60_000,
  }: { headers?: Record<string, string>; signal: AbortSignal; timeoutMs?: number },
): Promise<Answer> {
  const type = body === undefined ? undefined : { "content-type": "application/json" };
  try {
    const response = await fetch(url, {
      method,
      headers: { accept: "application/json", ...type, ...headers },
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: toJson(text) };
  } catch (error) {
    signal.throwIfAborted();
    throw new Problem("upstream-failed", `${new URL(url).origin} does not answer (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

/** JSON, or undefined. */
function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The short name of what went wrong on the network, like ECONNREFUSED. */
function reasonOf(error: unknown): string {
  const { cause, name, message } = error as Error;
  const inner = cause as NodeJS.ErrnoException | undefined;
  return inner?.code ?? inner?.message ?? (name === "TimeoutError" ? "no answer in time" : message);
}

/** A field of an untyped JSON object. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** The same when it is a text that is not empty. */
export function textField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}
