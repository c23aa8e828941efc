import type { IncomingMessage, RequestListener } from "node:http";
import { pathOf } from "../core/base-url.ts";
import { toOriginForm } from "./request/target.ts";

/**
 * Strips the path of the base URL from each request, unless Express or a proxy in front has stripped it already.
 * Returns the listener itself when the base URL has no path.
 */
export function belowPath(listener: RequestListener, baseUrl: string): RequestListener {
  const path = pathOf(baseUrl);
  if (path === "") return listener;
  return (request, response) => {
    request.url = toOwnUrl(request, path);
    listener(request, response);
  };
}

/** Express keeps the whole URL in `originalUrl` when it has stripped the path of a mount. */
function toOwnUrl({ url = "/", originalUrl = url }: IncomingMessage & { originalUrl?: string }, path: string): string {
  const whole = toOriginForm(originalUrl);
  const rest = whole.slice(path.length);
  if (!whole.startsWith(path) || !/^(?:[/?]|$)/.test(rest)) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}
