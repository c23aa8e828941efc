import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { sha256 } from "../../core/digest.ts";
import { findRounded, isObject, tryParseJson } from "../../core/json.ts";
import { isJson } from "../../core/proxy/answer.ts";
import { partsField } from "../../core/proxy/media.ts";
import type { UpstreamManifest } from "../../core/set/manifest.ts";
import { readBounded } from "../../drivers/http/bounded-body.ts";
import type { Transport, WireAnswer, WireRequest } from "../../drivers/upstream/transport.ts";
import { describeBody } from "../../sandbox/recordings/body.ts";
import { isRpcCall, toPathBelow } from "../../sandbox/recordings/match.ts";
import type {
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  Recording,
} from "../../sandbox/recordings/recordings.ts";
import { createRecordedTransport } from "../../sandbox/recordings/transport.ts";
import type { Located } from "../serve/locate.ts";

/** A transport that answers from recordings, sends other requests live, and notes the live answers. */
export interface Noting {
  readonly send: Transport;
  /** Keeps the answers noted since the last call of `forget`; for equal requests, the last one. */
  keep(): void;
  forget(): void;
  /** Returns the kept exchanges by upstream, and forgets them. */
  take(): ReadonlyMap<string, readonly RecordedExchange[]>;
}

interface Noted {
  readonly upstream: string;
  readonly exchange: RecordedExchange;
}

export interface NotingOptions {
  readonly recordings: readonly Recording[];
  readonly places: readonly (Located & { readonly manifest: UpstreamManifest })[];
  readonly live: Transport;
  /** What is kept of a request's body; all of it by default. */
  readonly toKept?: (upstream: string, body: unknown) => unknown;
}

/** Larger answers are not recorded. */
const MOST_BYTES = 8 * 1024 * 1024;

export function createNoting({ recordings, places, live, toKept = (_, body) => body }: NotingOptions): Noting {
  const bases = new Map(places.map(({ manifest, url, query }) => [manifest.id, toBase(url, query)]));
  const titles = new Map(places.map(({ manifest: { id, title } }) => [id, title]));
  let noted: Noted[] = [];
  let kept: Noted[] = [];

  return {
    send: createRecordedTransport({ recordings, baseUrls: bases, titles, remedy: "", fallback: ask }),
    keep() {
      for (const one of noted) {
        kept = kept.filter((other) => !isSame(one, other));
        kept.push(one);
      }
    },
    forget() {
      noted = [];
    },
    take() {
      const taken = Map.groupBy(kept, ({ upstream }) => upstream);
      kept = [];
      return new Map([...taken].map(([upstream, all]) => [upstream, all.map(({ exchange }) => exchange)]));
    },
  };

  async function ask(request: WireRequest): Promise<WireAnswer> {
    const { status, headers, body } = await live(request);
    const bytes = await readBounded(body, titles.get(request.upstream) ?? request.upstream, MOST_BYTES);
    if (status < 500 && !NO_ANSWERS.includes(status)) {
      const path = toPathBelow(request.url, bases.get(request.upstream) ?? "") ?? request.url.pathname;
      const { body: sent, ...type } = await describeBody(request);
      const kept = toKept(request.upstream, sent);
      const asked = { method: request.method, path, ...(kept !== undefined && { body: kept }), ...type };
      const exchange = toRpcExchange(asked.body, bytes) ?? toExchange(asked, { status, headers, bytes });
      noted.push({ upstream: request.upstream, exchange });
    }
    return { status, headers, body: Readable.from([bytes]) };
  }
}

/** A refused credential, or "ask again later". Other statuses below 500 may be what a service sells: 404, there is none. */
const NO_ANSWERS: readonly number[] = [401, 402, 403, 408, 425, 429];

const isSame = (one: Noted, other: Noted): boolean =>
  one.upstream === other.upstream && isDeepStrictEqual(one.exchange.request, other.exchange.request);

/**
 * The recorded form of a JSON-RPC call, without its id. Undefined for other requests, and when the node refused the
 * call.
 */
function toRpcExchange(body: unknown, bytes: Buffer): RecordedExchange | undefined {
  const answer = tryParseJson(bytes.toString());
  if (!isRpcCall(body) || typeof body.method !== "string" || !isObject(answer) || !("result" in answer))
    return undefined;
  const params = Array.isArray(body.params) ? (body.params as readonly unknown[]) : [];
  return {
    case: "success",
    request: { rpc: { method: body.method, params } },
    response: { result: answer.result },
  };
}

/** Credentials in the query belong to the base, so that no recorded path contains them. */
function toBase(url: string | undefined, query: Readonly<Record<string, string>> = {}): string {
  const base = URL.parse(url ?? "");
  if (!base) return "";
  for (const [name, value] of Object.entries(query)) base.searchParams.set(name, value);
  return base.href;
}

interface Told {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly bytes: Buffer;
}

function toExchange(request: RecordedRequest, { status, headers, bytes }: Told): RecordedExchange {
  const type = headers.get("content-type") ?? "";
  const name = status < 400 ? "success" : "empty";
  const own = { ...(status !== 200 && { status }) };
  const typed: RecordedResponse = { ...own, ...(type && { headers: { "content-type": type } }) };
  const text = bytes.toString();
  if (Buffer.from(text).equals(bytes)) {
    const json = toWritable(text);
    if (json === undefined || !isReadAsJson(type, json)) return { case: name, request, response: { ...typed, text } };
    return { case: name, request, response: { ...(USUAL_TYPE.test(type) ? own : typed), json } };
  }
  const file = `${sha256(bytes).slice(0, 16)}.${/\/(?!json\b)([a-z0-9]+)/.exec(type)?.[1] ?? "bin"}`; // .json is a recording.
  return { case: name, request, response: { ...typed, file }, content: bytes };
}

/** The type of recorded JSON that names none. */
const USUAL_TYPE = /^(?:application\/json(?:;\s*charset="?utf-8"?)?)?$/i;

/** Whether an answer is JSON to its reader, too. A stream may be of one line, and a text `1.10` is no number. */
const isReadAsJson = (type: string, value: unknown): boolean =>
  isJson(type) || (typeof value === "object" && partsField(type) === undefined);

/** The value of a JSON text that can be written again: not one that is nested too deeply, or whose integers are rounded. */
function toWritable(text: string): unknown {
  const value = tryParseJson(text);
  try {
    JSON.stringify(value);
    return findRounded(value, () => text) ? undefined : value;
  } catch {
    return undefined;
  }
}
