import { type McpHeaders, readHeader } from "./headers.ts";

/** From where the endpoint may be called. */
export interface McpAccess {
  /** The public base URL; web pages of its origin are always welcome. */
  readonly baseUrl: string;
  /** Whether the server listens on a loopback address alone, so that no other name than its own can be meant for it. */
  readonly loopback: boolean;
  /**
   * The origins of web pages that may call; `*` is every one. Left out: every one where the base URL is public, since
   * there is no account that a page could abuse, and pages of this machine where it is not.
   */
  readonly origins?: readonly string[] | undefined;
}

const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?$/i;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Says of each request why it may not come in, if so (MCP "Security Warning": DNS rebinding). The answer is 403. */
export function createAccessCheck(access: McpAccess): (headers: McpHeaders) => string | undefined {
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
