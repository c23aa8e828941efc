import { Problem } from "../../api/problem.ts";
import { isDeep, tryParseJson } from "../../core/json.ts";
import { createBoundedFetch } from "../../drivers/http/bounded-body.ts";

/** The most that is read of a seller's answer: it could go on for ever. */
const MOST_BYTES = 64 * 1024 * 1024;

/** How long a call may take, in milliseconds: its work, of two minutes at most, and the settlement of its payment. */
export const CALL_MS = 240_000;

export interface SellerRequest {
  readonly method: string;
  readonly url: string;
  /** JSON text. */
  readonly body: string | undefined;
}

/** A seller's response, with its whole body. */
export interface SellerResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON, or a plain text, or nested too deeply to be printed as JSON. */
  readonly json: unknown;
}

/**
 * Sends one request. Redirects are not followed, because a payment is meant for the address that asked for it.
 * @throws Problem `upstream-failed` when no answer came; the signal's reason when it was aborted.
 */
export async function ask(
  { method, url, body }: SellerRequest,
  {
    headers = {},
    signal,
    timeoutMs = 60_000,
  }: { headers?: Record<string, string>; signal: AbortSignal; timeoutMs?: number },
): Promise<SellerResponse> {
  const type = body === undefined ? undefined : { "content-type": "application/json" };
  try {
    const response = await createBoundedFetch(new URL(url).origin, MOST_BYTES)(url, {
      method,
      headers: { accept: "application/json", ...type, ...headers },
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(body === undefined ? {} : { body }),
    });
    const media = toFileType(response);
    if (media !== undefined) return await toFileResponse(response, media);
    const { status, headers: said } = response;
    const named = said.get("content-type") ?? "";
    const text = toText(new Uint8Array(await response.arrayBuffer()), named);
    const json = tryParseJson(text);
    const isPlain = /^text\/(?!.*json)/i.test(named) && typeof json !== "object"; // `1.10` is a version, or has its digits.
    return { status, headers: said, text, json: isPlain || isDeep(json) ? undefined : json };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Problem) throw error;
    throw new Problem("upstream-failed", `${new URL(url).origin} does not answer (${reasonOf(error)})`, {
      cause: error,
    });
  }
}

/** A body in UTF-8, or in the charset that a text names. */
function toText(bytes: Uint8Array, type: string): string {
  const [, charset = "utf-8"] = /^text\/.*;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // An unknown charset.
  }
}

/** The JSON of a response to be shown: numbers that JavaScript would round stand as they were sent. */
export const toExactJson = ({ text, json }: Pick<SellerResponse, "text" | "json">): unknown =>
  json === undefined ? undefined : JSON.parse(text, keepSource);

function keepSource(_key: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown {
  const isExact = typeof value !== "number" || (Number.isFinite(value) && source.length <= EXACT_DIGITS);
  return isExact ? value : RAW.rawJSON(source);
}

/** JavaScript reads numbers of so many digits exactly. */
const EXACT_DIGITS = 15;
/** TypeScript does not know it yet (ECMAScript 2026). */
const RAW = JSON as typeof JSON & { readonly rawJSON: (text: string) => unknown };

/** The media type of a result that is a file. */
function toFileType({ ok, headers }: Response): string | undefined {
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  return ok && /^(?!text\/).+\/(?!.*json)/.test(type) ? type : undefined;
}

/** A file as JSON: `media`, and `data` in base64. */
async function toFileResponse(response: Response, media: string): Promise<SellerResponse> {
  const json = { media, data: Buffer.from(await response.arrayBuffer()).toString("base64") };
  return { status: response.status, headers: response.headers, text: JSON.stringify(json), json };
}

/** A short reason for a network error, like ECONNREFUSED. */
export function reasonOf(error: unknown): string {
  const { cause, name, message } = error as Error;
  const inner = cause as NodeJS.ErrnoException | undefined;
  return inner?.code ?? inner?.message ?? (name === "TimeoutError" ? "no answer in time" : message);
}

/** A field of untyped JSON; undefined when the value is not an object. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** A field of untyped JSON that is a non-empty string; otherwise undefined. */
export function textField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" && found !== "" ? found : undefined;
}
