import { type RequestHeaders, readHeader } from "../http/headers.ts";

/** Where the endpoint is, which decides the web pages that may call it, and under which host names. */
export interface McpAccess {
  /**
   * The public base URL. All web pages may call, since there is no account that one could abuse; but where the URL is of
   * this machine, only pages of this machine.
   */
  readonly baseUrl: string;
  /**
   * Whether the server listens on a loopback address only. Where its base URL is of this machine as well, only loopback host
   * names are accepted. Otherwise a proxy is in front, which may send any Host.
   */
  readonly loopback: boolean;
}

const HOST = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?$/i;
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@]+$/;
const LOOPBACK = ["localhost", "127.0.0.1", "[::1]"];

/** Explains why a request is answered 403 (MCP, "Security Warning": DNS rebinding); undefined when it is allowed. */
export function createAccessCheck(access: McpAccess): (headers: RequestHeaders) => string | undefined {
  const isLocal = LOOPBACK.includes(new URL(access.baseUrl).hostname);

  const isWelcome = (origin: string): boolean =>
    isLocal
      ? LOOPBACK.includes(hostnameOf(/^https?:\/\/(.+)$/.exec(origin)?.[1] ?? "") ?? "")
      : origin === "null" || ORIGIN.test(origin);

  return (headers) => {
    const host = readHeader(headers, "host") ?? "";
    if (isLocal && access.loopback && !LOOPBACK.includes(hostnameOf(host) ?? ""))
      return `This server listens on a loopback address, and ${JSON.stringify(host)} is no name of it`;
    const origin = readHeader(headers, "origin");
    if (origin === undefined || isWelcome(origin.toLowerCase())) return undefined;
    return `Pages of the origin ${JSON.stringify(origin)} may not call this endpoint`;
  };
}

const hostnameOf = (host: string): string | undefined => HOST.exec(host)?.[1]?.toLowerCase();
