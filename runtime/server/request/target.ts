import type { IncomingMessage } from "node:http";
import type { Request } from "express";
import { Problem } from "../../api/problem.ts";

/** Printable ASCII without `#` and `\`, which URL parsers read differently; or `*`, for OPTIONS (RFC 9112, section 3.2.4). */
const TARGET = /^(?:\/[!"$-[\]-~]*|\*)$/;

/** Converts a request target to origin form; clients of proxies send the absolute form (RFC 9112, section 3.2.2). */
export function toOriginForm(url: string): string {
  if (url.startsWith("/")) return url;
  const rest = url.replace(/^https?:\/\/[^/?#]*/i, "");
  return rest === "" || rest.startsWith("?") ? `/${rest}` : rest;
}

/** @throws Problem `uri-too-long`; `bad-request` when parsers could read the target differently. */
export function checkTarget(url: string, maxBytes: number): void {
  if (url.length > maxBytes) {
    throw new Problem("uri-too-long", `The URL has more than the ${maxBytes} bytes that are allowed`);
  }
  if (!TARGET.test(url)) {
    throw new Problem("bad-request", "The URL must begin with / and hold neither # nor \\; percent-encode them");
  }
}

/**
 * Two Host headers could be read differently by a proxy and by us (RFC 9112, section 3.2).
 * @param rawHeaders names and values in turn
 * @throws Problem `bad-request`
 */
export function checkHost(rawHeaders: readonly string[]): void {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.length === 4 && name.toLowerCase() === "host");
  if (hosts.length > 1) throw new Problem("bad-request", "The request has more than one Host header");
}

/** Whether the URL asks for challenges in the form of x402 version 1. */
export const isVersion1 = ({ url }: { readonly url: string }): boolean =>
  url.includes("x402Version=1") && URL.parse(url, "http://localhost")?.searchParams.get("x402Version") === "1";

/** A manifest's path (core/set/route.ts) in Express's form: `/v1/x/{id}` becomes `/v1/x/:id`. */
export const toPattern = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** The pattern of the route that a request took (`/v1/x/:id`); undefined where its path is unknown. */
export const patternOf = (request: IncomingMessage): string | undefined => (request as Partial<Request>).route?.path;
