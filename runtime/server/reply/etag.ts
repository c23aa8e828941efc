import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The strong ETag of these bytes (RFC 9110, section 8.8.3). */
export const toEtag = (body: Buffer): string => `"${createHash("sha256").update(body).digest("base64url")}"`;

/** Whether the caller has what the ETag names: weak comparison with any of its list (RFC 9110, section 13.1.2). */
export const isKnown = ({ "if-none-match": known }: IncomingHttpHeaders, etag: string): boolean =>
  known?.split(",").some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim())) ?? false;
