import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from "node:zlib";
import type { RawAnswer } from "./redirects.ts";

/**
 * Some servers send codings that were not asked for. `deflate` is not asked for, because some send it without its zlib
 * header (RFC 9110, section 8.4.1.2).
 */
const DECODERS = new Map<string, () => Decoder>([
  ["br", createBrotliDecompress],
  ["deflate", createInflate],
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["zstd", () => takeWhole(createZstdDecompress())],
]);
const MOST_DECODERS = 3;

type Decoder = Transform & { readonly bytesWritten: number };

/** An answer of undici with its decompressed, unread body. */
export function decompressed({ statusCode, headers, body }: RawAnswer): {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: Readable;
} {
  const get = (name: string): string | null => headers[name.toLowerCase()]?.toString() ?? null;
  return { status: statusCode, headers: { get }, body: decompress(body, get("content-encoding") ?? "") };
}

/**
 * Decompresses on demand: a reader that stops causes at most one chunk too many. The last coding was applied last
 * (RFC 9110, section 8.4); unknown words, such as the `aws-chunked` of some stores, are skipped.
 */
function decompress(body: Readable, encoding: string): Readable {
  const codings = encoding.toLowerCase().split(",").reverse();
  const decoders = codings.flatMap((coding) => DECODERS.get(coding.trim()) ?? []).slice(0, MOST_DECODERS);
  // The reader gets every failure from the last stream.
  return decoders.reduce<Readable>((from, open) => {
    const decoder = pipeline(from, takeEmpty(open()), () => {});
    // What comes after the end of what was compressed, as long as it comes, would be read and thrown away.
    return decoder.once("end", () => void (from.readableEnded || from.destroy()));
  }, body);
}

/**
 * Zstandard data may have several frames (RFC 8878, section 3), and Node's decoder ends after the first one: what follows
 * makes it fail, so that a part is never taken for all of it.
 */
function takeWhole(decoder: Decoder): Decoder {
  const transform = decoder._transform.bind(decoder);
  const push = decoder.push.bind(decoder);
  let received = 0;
  decoder._transform = (chunk: Buffer, encoding, done) => {
    received += chunk.length;
    transform(chunk, encoding, done);
  };
  decoder.push = (chunk, encoding) => {
    const isPart = chunk === null && decoder.bytesWritten < received;
    if (isPart) decoder.destroy(new Error("The answer has more than one Zstandard frame"));
    return !isPart && push(chunk, encoding);
  };
  return decoder;
}

/** A body may be empty, whatever its encoding; decoders fail on empty input. */
function takeEmpty(decoder: Decoder): Decoder {
  const flush = decoder._flush.bind(decoder);
  decoder._flush = (done) => (decoder.bytesWritten === 0 ? done() : flush(done));
  return decoder;
}
