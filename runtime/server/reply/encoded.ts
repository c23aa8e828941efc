import { brotliCompress, type CompressCallback, gzip } from "node:zlib";
import type { Request } from "express";

/** A content coding (RFC 9110, section 8.4.1). */
export type Coding = "br" | "gzip";

/** The content codings of one body. */
export interface EncodedBody {
  /** The smallest coding that the request accepts; undefined means the body without coding. */
  choose(request: Pick<Request, "acceptsEncodings">): Coding | undefined;
  /** Encodes on the first request and keeps the result. */
  read(coding: Coding): Promise<Buffer>;
}

/** A smaller body fits into one packet without coding. */
const LEAST_BYTES = 1400;
const COMPRESSIBLE = /^(text\/|image\/svg|application\/(.+\+)?(json|xml|javascript|yaml))/;
const CODINGS: readonly Coding[] = ["br", "gzip"];
const ENCODERS: Readonly<Record<Coding, (body: Buffer, done: CompressCallback) => void>> = { br: brotliCompress, gzip };

/** Creates the coded forms of a body; undefined when coding would gain nothing. */
export function toEncodedBody(type: string, body: Buffer): EncodedBody | undefined {
  if (body.length < LEAST_BYTES || !COMPRESSIBLE.test(type)) return undefined;
  const encoded = new Map<Coding, Promise<Buffer>>();
  return {
    choose: (request) => CODINGS.find((coding) => request.acceptsEncodings(coding) === coding),
    read(coding) {
      const known = encoded.get(coding) ?? encode(coding, body);
      encoded.set(coding, known);
      known.catch(() => encoded.delete(coding)); // After a failure, the next request tries again.
      return known;
    },
  };
}

function encode(coding: Coding, body: Buffer): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  ENCODERS[coding](body, (error, bytes) => (error ? reject(error) : resolve(bytes)));
  return promise;
}
