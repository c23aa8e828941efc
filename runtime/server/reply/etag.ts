import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The strong ETag of these bytes (RFC 9110, section 8.8.3). */
export const toEtag = (body: Buffer): string => `"${createHash("sha256").update(body).digest("base64url")}"`;

/** Whether `If-None-Match` lists the ETag, by weak comparison (RFC 9110, section 13.1.2). */
export const isKnown = ({ "if-none-match": known }: IncomingHttpHeaders, etag: string): boolean =>
  known?.split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim())) ?? false;
