import { isObject, type JsonObject } from "../../../core/json.ts";
import type { UpstreamEntry } from "../imported.ts";
import { toTitle, toVariable, toWord } from "../names.ts";
import type { Pointers } from "./pointers.ts";

/** The upstreams of a document: one, and one more for each further server that operations name. */
export interface UpstreamBook {
  /** The upstream of an operation. */
  of(servers: unknown): UpstreamEntry;
  /** Whether the upstream's key fills this parameter. */
  isCredential(place: string, name: string): boolean;
  readonly notes: readonly string[];
}

export interface UpstreamTerms {
  readonly id: string;
  /** Where the document was fetched, for addresses relative to it. */
  readonly url?: string | undefined;
  readonly pointers: Pointers;
}

/** The id that a document gives its upstream, unless the operator names one. */
export function toUpstreamId(document: JsonObject): string {
  const info = isObject(document.info) ? document.info : {};
  const word = toWord(
    String(info.title ?? "").replaceAll(/\b(?:api|openapi|swagger|rest|the|v\d[\d.]*|\d+\.\d[\d.]*)\b/gi, " "),
  );
  return /[a-z]/.test(word) ? word : "api";
}

/** Reads servers and security schemes (OpenAPI 3.1, sections 4.8.5 and 4.8.27). */
export function readUpstreams(document: JsonObject, { id, url, pointers }: UpstreamTerms): UpstreamBook {
  const info = isObject(document.info) ? document.info : {};
  const title = toTitle(String(info.title ?? ""), id);
  const notes: string[] = [];
  const key = readKey(document, { id, pointers, notes });
  const byServer = new Map<string, UpstreamEntry>();
  return {
    notes,
    of(servers) {
      const server = toServer(servers ?? document.servers, url) ?? "";
      const known = byServer.get(server);
      if (known) return known;
      const own = byServer.size === 0 ? id : `${id.slice(0, 29)}-${byServer.size + 1}`;
      const variable = toVariable(own, "URL");
      if (server === "") notes.push(`the document names no server: set ${variable} to the API's address`);
      const entry = { id: own, title, ...(server !== "" && { url: server }), variable, ...(key && { key: key.entry }) };
      byServer.set(server, entry);
      return entry;
    },
    isCredential: (place, name) =>
      key !== undefined && place === key.place && name.toLowerCase() === key.name.toLowerCase(),
  };
}

/** The first server that is an address, with the default values of its variables. */
function toServer(servers: unknown, base: string | undefined): string | undefined {
  for (const server of Array.isArray(servers) ? servers : []) {
    if (!isObject(server) || typeof server.url !== "string") continue;
    const variables = isObject(server.variables) ? server.variables : {};
    const text = server.url.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
      const variable = variables[name];
      return isObject(variable) ? String(variable.default ?? "") : "";
    });
    const found = URL.parse(text, base);
    if (found && /^https?:$/.test(found.protocol) && found.hostname !== "") {
      const { origin, pathname } = found;
      return `${origin}${pathname}`.replace(/\/+$/, "");
    }
  }
  return undefined;
}

interface Key {
  readonly place: string;
  readonly name: string;
  readonly entry: JsonObject;
}

/** The first credential that can be sent: of the document's own requirement, or else of any scheme. */
function readKey(
  document: JsonObject,
  { id, pointers, notes }: { readonly id: string; readonly pointers: Pointers; readonly notes: string[] },
): Key | undefined {
  const components = isObject(document.components) ? document.components : {};
  const schemes = isObject(components.securitySchemes) ? components.securitySchemes : {};
  const listed = Array.isArray(document.security) ? document.security : [];
  const [wanted = {}] = listed.filter((one) => isObject(one) && Object.keys(one).length > 0) as JsonObject[];
  const names = [...Object.keys(wanted), ...Object.keys(schemes)];
  const variable = toVariable(id, "KEY");
  const keys = [...new Set(names)].flatMap((name) => toKey(pointers, schemes[name], variable) ?? []);
  const needed = Object.keys(wanted).length;
  if (needed > 1)
    notes.push(
      `the API asks for ${needed} credentials at once (${Object.keys(wanted).join(", ")}); payphone sends one`,
    );
  return keys[0];
}

function toKey(pointers: Pointers, value: unknown, variable: string): Key | undefined {
  const scheme = isObject(value) ? pointers.object(value) : {};
  const bearer = {
    place: "header",
    name: "authorization",
    entry: { variable, header: "authorization", scheme: "Bearer" },
  };
  const { type, in: place, name } = scheme;
  if (type === "http" && String(scheme.scheme).toLowerCase() === "basic")
    return { ...bearer, entry: { ...bearer.entry, scheme: "Basic" } };
  if (type === "http" || type === "oauth2" || type === "openIdConnect") return bearer;
  if (type !== "apiKey" || typeof name !== "string") return undefined;
  if (place === "header" && /^[A-Za-z0-9-]{1,64}$/.test(name))
    return { place, name, entry: { variable, header: name.toLowerCase() } };
  return place === "query" && name.length <= 64 ? { place, name, entry: { variable, query: name } } : undefined;
}
