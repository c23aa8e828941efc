import { type RequestHeaders, readHeader } from "../http/headers.ts";

/** Which web pages may call the endpoint, and under which host names. */
export interface McpAccess {
  /** The public base URL; web pages of its origin may always call. */
  readonly baseUrl: string;
  /** Whether the server listens on a loopback address only; then only loopback host names are accepted. */
  readonly loopback: boolean;
  /**
   * The origins of web pages that may call; `*` means all. Default: all when the base URL is public, since there is no
   * account that a page could abuse; otherwise pages of this machine.
   */
  readonly origins?: readonly string[] | undefined;
}

const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?$/i;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Explains why a request is answered 403 (MCP, "Security Warning": DNS rebinding); undefined when it is allowed. */
export function createAccessCheck(access: McpAccess): (headers: RequestHeaders) => string | undefined {
  const base = new URL(access.baseUrl);
  const hosts = [...LOOPBACK, base.hostname];
  const isLocal = access.origins === undefined && LOOPBACK.includes(base.hostname);
  const listed = access.origins?.map((origin) => origin.toLowerCase()) ?? (isLocal ? [] : ["*"]);

  const isWelcome = (origin: string): boolean => {
    if (origin === base.origin || listed.includes(origin)) return true;
    if (isLocal) return LOOPBACK.includes(hostnameOf(/^https?:\/\/(.+)$/.exec(origin)?.[1] ?? "") ?? "");
    return listed.includes("*") && (origin === "null" || ORIGIN.test(origin));
  };

  return (headers) => {
    const host = readHeader(headers, "host") ?? "";
    if (access.loopback && !hosts.includes(hostnameOf(host) ?? ""))
      return `This server listens on a loopback address, and ${JSON.stringify(host)} is no name of it`;
    const origin = readHeader(headers, "origin");
    if (origin === undefined || isWelcome(origin.toLowerCase())) return undefined;
    return `Pages of the origin ${JSON.stringify(origin)} may not call this endpoint`;
  };
}

const hostnameOf = (host: string): string | undefined => HOST.exec(host)?.[1]?.toLowerCase();
