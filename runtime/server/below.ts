import type { IncomingMessage, RequestListener } from "node:http";
import { pathOf } from "../core/base-url.ts";
import { toOriginForm } from "./request/target.ts";

/**
 * Serves below the path of the base URL: it is taken off each request, unless the application or the proxy in front has taken
 * it off already. Without a path, the listener is the same.
 */
export function belowPath(listener: RequestListener, baseUrl: string): RequestListener {
  const path = pathOf(baseUrl);
  return (request, response) => {
    request.url = toOwnUrl(request, path);
    listener(request, response);
  };
}

/** Express keeps the whole URL in `originalUrl` where it has taken the path of a mount off. */
function toOwnUrl({ url = "/", originalUrl = url }: IncomingMessage & { originalUrl?: string }, path: string): string {
  const whole = toOriginForm(originalUrl);
  const rest = whole.slice(path.length);
  if (!whole.startsWith(path) || !/^(?:[/?]|$)/.test(rest)) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}
