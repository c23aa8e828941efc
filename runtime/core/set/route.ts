import { PATHS } from "../paths.ts";
import { didYouMean } from "./did-you-mean.ts";

export interface Route {
  readonly method: "GET" | "POST";
  /** Begins with `/`; `{name}` is a path parameter. */
  readonly path: string;
}

const METHODS = ["GET", "POST"] as const;
const SEGMENT = /^(?:[a-z0-9._~-]+|\{[a-z][a-z0-9_]*\})$/;
const MAX_PATH = 200;

/** The paths that no manifest may use; a trailing slash includes everything below. */
const RESERVED = [...Object.values(PATHS), "/.well-known/", "/sandbox/"];

/** What is wrong with a route's text, or nothing; the form is `METHOD /path/{parameter}`. */
export function explainRoute(text: string): string | undefined {
  const { method, path, rest } = splitRoute(text);
  if (!METHODS.includes(method))
    return `no such method${didYouMean(method, METHODS) || '; write "GET /path" or "POST /path"'}`;
  if (rest.length > 0 || !path.startsWith("/")) return `write the method, one space, and a path that begins with "/"`;
  return path.length > MAX_PATH ? `the path has more than ${MAX_PATH} characters` : explainPath(path);
}

/** Reads `METHOD /path/{parameter}`. @throws RangeError that says what is wrong with it. */
export function parseRoute(text: string): Route {
  const fault = explainRoute(text);
  if (fault !== undefined) throw new RangeError(`route ${JSON.stringify(text)}: ${fault}`);
  const { method, path } = splitRoute(text);
  return { method, path };
}

/** The cast holds once `explainRoute` finds nothing. */
function splitRoute(text: string): Route & { readonly rest: readonly string[] } {
  const [method = "", path = "", ...rest] = text.split(" ");
  return { method: method as Route["method"], path, rest };
}

/** The names of a path's parameters, in order. */
export const parametersOf = (path: string): string[] =>
  segmentsOf(path)
    .filter(isParameter)
    .map((segment) => segment.slice(1, -1));

/** Whether one request could match both paths, whatever their parameters are called. */
export function overlaps(a: string, b: string): boolean {
  const [left, right] = [segmentsOf(a), segmentsOf(b)];
  return left.length === right.length && left.every((segment, at) => fits(segment, right[at] as string));
}

/** Whether a path is one of a route's, with values where that has `{parameter}`. Both are as in a URL. */
export function isPathOf(path: string, route: string): boolean {
  const [given, own] = [segmentsOf(path), segmentsOf(route)];
  const fitsAt = (segment: string, at: number): boolean =>
    segment === given[at] || (segment.startsWith("%7B") && given[at] !== "");
  return given.length === own.length && own.every(fitsAt);
}

/** Whether payphone itself serves the path, or a path that it could match. */
export const isReserved = (path: string): boolean =>
  RESERVED.some((own) => (own.length > 1 && own.endsWith("/") ? isBelow(path, own.slice(0, -1)) : overlaps(path, own)));

function explainPath(path: string): string | undefined {
  if (path === "/") return undefined;
  const segments = segmentsOf(path);
  if (segments.includes("")) return `the path has an empty segment; write no "//" and no "/" at its end`;
  const wrong = segments.find((segment) => !SEGMENT.test(segment) || segment === "." || segment === "..");
  if (wrong !== undefined)
    return `"${wrong}" is no path segment: lower-case letters, digits and "._~-", or a whole segment {name}`;
  const names = parametersOf(path);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined ? undefined : `the parameter {${twice}} stands in it twice`;
}

const segmentsOf = (path: string): string[] => path.split("/").slice(1);
const isParameter = (segment: string): boolean => segment.startsWith("{");
const fits = (a: string, b: string): boolean => a === b || (b !== "" && isParameter(a)) || (a !== "" && isParameter(b));
const isBelow = (path: string, folder: string): boolean =>
  overlaps(`/${segmentsOf(path).slice(0, segmentsOf(folder).length).join("/")}`, folder);
