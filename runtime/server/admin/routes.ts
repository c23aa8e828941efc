import { Problem } from "../../api/problem.ts";
import type { Reply } from "../reply/reply.ts";

/** A request of the authenticated operator. */
export interface AdminRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The segments of the path that the route names `:name`, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Reads the body, up to 1 MB. @throws Problem `payload-too-large`, `bad-request`. */
  body(): Promise<string>;
}

export interface AdminRoute {
  /** A GET route also answers HEAD. */
  readonly method: "GET" | "POST";
  /** `/metrics`, or with named segments: `/buyers/:address`. */
  readonly path: string;
  /** Whether the route is served on the socket in the data directory only. True for routes that change the shop. */
  readonly isLocal?: boolean;
  /** @throws Problem, which is answered as a problem document. */
  handle(request: AdminRequest): Reply | Promise<Reply>;
}

export interface FoundRoute {
  readonly route: AdminRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** A path that does not take the method of a request. */
export interface OtherMethods {
  /** As in the header `Allow`. */
  readonly allow: string;
}

/** The route of a request. @throws Problem `not-found`. */
export function findRoute(routes: readonly AdminRoute[], method: string, path: string): FoundRoute | OtherMethods {
  const wanted = method === "HEAD" ? "GET" : method;
  const fitting = routes.flatMap((route) => {
    const params = matchPath(route.path, path);
    return params ? [{ route, params }] : [];
  });
  const found = fitting.find(({ route }) => route.method === wanted);
  if (found) return found;
  if (fitting.length === 0) throw new Problem("not-found", `The admin listener has nothing at ${path}`);
  return { allow: fitting.map(({ route }) => (route.method === "GET" ? "GET, HEAD" : route.method)).join(", ") };
}

/** The named segments of a path that matches the pattern; undefined for every other path. */
function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const names = pattern.split("/");
  const segments = path.split("/");
  if (names.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, name] of names.entries()) {
    const segment = segments[at] as string; // Both have the same length.
    if (!name.startsWith(":")) {
      if (name !== segment) return undefined;
    } else if (segment === "") return undefined;
    else params[name.slice(1)] = decode(segment);
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Problem("bad-request", "The path is not valid percent-encoded UTF-8");
  }
}
