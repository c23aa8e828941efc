import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import { sha256 } from "../../core/digest.ts";
import type { UpstreamManifest } from "../../core/set/manifest.ts";
import { readBounded } from "../../drivers/http/bounded-body.ts";
import type { Transport, WireAnswer, WireRequest } from "../../drivers/upstream/transport.ts";
import { describeBody } from "../../sandbox/recordings/body.ts";
import { toPathBelow } from "../../sandbox/recordings/match.ts";
import type {
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  Recording,
} from "../../sandbox/recordings/recordings.ts";
import { createRecordedTransport } from "../../sandbox/recordings/transport.ts";
import type { Located } from "../serve/locate.ts";

/** A transport that answers from recordings, asks live where none answers, and notes what it was told. */
export interface Noting {
  readonly send: Transport;
  /** Keeps what was noted since the last call of `forget`: of equal requests the last answer. */
  keep(): void;
  forget(): void;
  /** Gives what was kept, and begins anew. */
  take(): readonly RecordedExchange[];
}

export interface NotingOptions {
  readonly recordings: readonly Recording[];
  readonly places: readonly (Located & { readonly manifest: UpstreamManifest })[];
  readonly live: Transport;
}

/** Larger answers are no examples. */
const MOST_BYTES = 8 * 1024 * 1024;

export function createNoting({ recordings, places, live }: NotingOptions): Noting {
  const bases = new Map(places.map(({ manifest, url, query }) => [manifest.id, toBase(url, query)]));
  const titles = new Map(places.map(({ manifest: { id, title } }) => [id, title]));
  let noted: RecordedExchange[] = [];
  let kept: RecordedExchange[] = [];

  return {
    send: createRecordedTransport({ recordings, baseUrls: bases, titles, remedy: "", fallback: ask }),
    keep() {
      for (const exchange of noted) {
        kept = kept.filter(({ request }) => !isDeepStrictEqual(request, exchange.request));
        kept.push(exchange);
      }
    },
    forget() {
      noted = [];
    },
    take() {
      const taken = kept;
      kept = [];
      return taken;
    },
  };

  async function ask(request: WireRequest): Promise<WireAnswer> {
    const { status, headers, body } = await live(request);
    const bytes = await readBounded(body, titles.get(request.upstream) ?? request.upstream, MOST_BYTES);
    if (status < 400) {
      const path = toPathBelow(request.url, bases.get(request.upstream) ?? "") ?? request.url.pathname;
      const asked = { method: request.method, path, ...(await describeBody(request)) };
      noted.push(toExchange(asked, { status, headers, bytes }));
    }
    return { status, headers, body: Readable.from([bytes]) };
  }
}

/** Credentials in the query are part of the base, so that no recorded path has them. */
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
  const own = { ...(status !== 200 && { status }) };
  const text = bytes.toString();
  const json = parse(text);
  if (json !== undefined) return { case: "success", request, response: { ...own, json } };
  const typed: RecordedResponse = { ...own, ...(type && { headers: { "content-type": type } }) };
  if (Buffer.from(text).equals(bytes)) return { case: "success", request, response: { ...typed, text } };
  const name = `${sha256(bytes).slice(0, 16)}.${/\/([a-z0-9]+)/.exec(type)?.[1] ?? "bin"}`;
  return { case: "success", request, response: { ...typed, file: name }, content: bytes };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
