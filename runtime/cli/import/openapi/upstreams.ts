import { isObject, type JsonObject } from "../../../core/json.ts";
import { SENT_HEADER } from "../../../core/set/grammar.ts";
import type { KeyManifest } from "../../../core/set/manifest.ts";
import type { UpstreamEntry } from "../imported.ts";
import { createNames, toTitle, toVariable, toWord } from "../names.ts";
import type { Operation } from "./operations.ts";
import { isOfProvider } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";

/** The upstreams of a document: one, and another one for each further server that operations name. */
export interface UpstreamBook {
  /** The upstream of an operation. */
  of(servers: unknown): UpstreamEntry;
  /** Whether a parameter is a credential that the schemes name, or that the upstream of these servers fills in. */
  isCredential(place: string, name: string, servers: unknown): boolean;
  /** Whether an operation asks for a credential, and none that is sent will do. @param own the operation's `security`. */
  asksForOthers(own: unknown): boolean;
  readonly notes: readonly string[];
}

export interface UpstreamTerms {
  readonly id: string;
  /** The URL of the document, to resolve relative addresses. */
  readonly url?: string | undefined;
  readonly pointers: Pointers;
  /** The chosen operations: their security requirements count where none of them leaves it to the document. */
  readonly chosen: readonly Pick<Operation, "servers" | "security" | "parameters">[];
}

/** The default id of a document's upstream. */
export function toUpstreamId(document: JsonObject): string {
  const info = isObject(document.info) ? document.info : {};
  const word = toWord(
    String(info.title ?? "").replaceAll(/\b(?:api|openapi|swagger|rest|the|v\d[\d.]*|\d+\.\d[\d.]*)\b/gi, " "),
  );
  return /[a-z]/.test(word) ? word : "api";
}

/** Reads servers and security schemes (OpenAPI 3.1, sections 4.8.5 and 4.8.27). */
export function readUpstreams(document: JsonObject, { id, url, pointers, chosen }: UpstreamTerms): UpstreamBook {
  const info = isObject(document.info) ? document.info : {};
  const title = toTitle(String(info.title ?? ""), id);
  const notes: string[] = [];
  const schemes = pointers.tryObject(pointers.tryObject(document.components).securitySchemes);
  const security = chosen.map((operation) => operation.security);
  const keys = readKeys(document, { id, pointers, notes, security, schemes });
  const serverOf = (servers: unknown): Server => toServer(servers ?? document.servers, url);
  const placeOf = (servers: unknown): string => serverOf(servers).place;
  /** Whether a server besides the document's own is asked without a credential: it may be somebody else's. */
  const isOpen = (place: string): boolean =>
    place !== placeOf(undefined) &&
    chosen.every(({ servers, security: own = document.security }) => placeOf(servers) !== place || isNone(own));
  const isScheme = (place: string, name: string): boolean =>
    Object.values(schemes).some((scheme) => {
      const { type, in: its, name: own } = pointers.tryObject(scheme);
      return type === "apiKey" && its === place && String(own).toLowerCase() === name.toLowerCase();
    });
  const known = new Map<string, readonly Key[]>();
  /** The credentials of a server: those of the schemes, and those that its operations require as parameters. */
  const keysAt = (place: string): readonly Key[] => {
    const found = known.get(place) ?? withoutTwins([...(isOpen(place) ? [] : keys), ...requiredAt(place)]);
    known.set(place, found);
    return found;
  };
  const requiredAt = (place: string): readonly Key[] =>
    chosen
      .flatMap(({ servers, parameters }) => (placeOf(servers) === place ? parameters : []))
      .flatMap((own) => {
        const { in: where, name, required } = own;
        if (required !== true || typeof where !== "string" || typeof name !== "string") return [];
        if (!isScheme(where, name) && !isOfProvider({ place: where, wireName: name, own })) return [];
        const variable = toVariable(id, toVariable(toWord(name), "KEY")).replace(/_KEY_KEY$/, "_KEY");
        const login = { type: "http", scheme: /\bbasic\b/i.test(String(own.description)) ? "basic" : "bearer" };
        return toKey(/^authorization$/i.test(name) ? login : { type: "apiKey", in: where, name }, variable) ?? [];
      });
  const isSent = (scheme: string): boolean => {
    const wanted = toKey(pointers.tryObject(schemes[scheme]), "");
    return keys.some((one) => wanted && toPlace(one) === toPlace(wanted));
  };
  const byServer = new Map<string, UpstreamEntry>();
  return {
    notes,
    of(servers) {
      const { place, isAddress, defaults } = serverOf(servers);
      const known = byServer.get(place);
      if (known) return known;
      const own = byServer.size === 0 ? id : `${id.slice(0, 29).replace(/-$/, "")}-${byServer.size + 1}`;
      const variable = toVariable(own, "URL");
      if (!isAddress)
        notes.push(
          `the document names no server: set ${variable} to the API's address${place && `, which ends in ${place}`}`,
        );
      else if (defaults.length > 0)
        notes.push(
          `parts of the address are the document's defaults (${defaults.join(", ")}): ${place}; where yours is another, set ${variable}`,
        );
      const [key, ...more] = keysAt(place);
      const entry = {
        id: own,
        title,
        ...(isAddress && { url: place }),
        variable,
        ...(key && { key: key.entry }),
        ...(more.length > 0 && { keys: more.map((one) => one.entry) }),
      };
      byServer.set(place, entry);
      return entry;
    },
    isCredential: (where, name, servers) =>
      isScheme(where, name) || keysAt(placeOf(servers)).some((one) => isSame(one, where, name)),
    asksForOthers(own) {
      const sets = own ?? document.security;
      if (keys.length === 0 || !Array.isArray(sets) || sets.length === 0) return false;
      return !sets.some((one) => isObject(one) && Object.keys(one).every(isSent));
    },
  };
}

/** Whether a list of security requirements asks for nothing. */
const isNone = (sets: unknown): boolean =>
  Array.isArray(sets) && sets.every((one) => isObject(one) && Object.keys(one).length === 0);

interface Server {
  /** Its address, or its path such as `/api/v3` where it names nothing else; otherwise empty. */
  readonly place: string;
  readonly isAddress: boolean;
  /** The variables whose defaults are parts of its place. */
  readonly defaults: readonly string[];
}

/** The first server with an absolute address, by https if a later one differs in nothing else; or else the first server. */
function toServer(servers: unknown, base: string | undefined): Server {
  const all = (Array.isArray(servers) ? servers : []).map((server) => readServer(server, base));
  const found = all.filter(({ isAddress }) => isAddress);
  const safe = found[0]?.place.replace(/^http:/, "https:");
  return found.find(({ place }) => place === safe) ?? found[0] ?? all[0] ?? NO_SERVER;
}

const NO_SERVER: Server = { place: "", isAddress: false, defaults: [] };

/** A server with the default values of its variables; all of them must have one. */
function readServer(server: unknown, base: string | undefined): Server {
  if (!isObject(server) || typeof server.url !== "string") return NO_SERVER;
  const variables = isObject(server.variables) ? server.variables : {};
  const defaults: string[] = [];
  const text = server.url.replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = variables[name];
    const { default: usual, enum: listed } = isObject(variable) ? variable : {};
    if (usual === undefined || usual === null) return whole;
    if (!Array.isArray(listed) || listed.length > 1) defaults.push(name);
    return String(usual);
  });
  if (/[{}]/.test(text)) return NO_SERVER;
  const url = URL.parse(
    text.replace(/^\/\//, () => (base === undefined ? "https://" : "//")),
    base,
  );
  if (url && /^https?:$/.test(url.protocol) && url.hostname !== "")
    return { place: `${url.origin}${url.pathname}`.replace(/\/+$/, ""), isAddress: true, defaults };
  return { ...NO_SERVER, place: /^\/[\w.~/-]*[\w.~-]\/?$/.test(text) ? text.replace(/\/$/, "") : "" };
}

interface Key {
  readonly place: string;
  readonly name: string;
  readonly entry: KeyManifest;
}

const isSame = (key: Key, place: string, name: string): boolean =>
  key.place === place && key.name.toLowerCase() === name.toLowerCase();

/** The first ones of each place and name, with a variable each. */
function withoutTwins(keys: readonly Key[]): readonly Key[] {
  const claim = createNames();
  return keys
    .filter(({ place, name }, at) => keys.findIndex((other) => isSame(other, place, name)) === at)
    .slice(0, MOST_KEYS)
    .map(({ entry, ...rest }) => ({ ...rest, entry: { ...entry, variable: claim(entry.variable, "_") } }));
}

const toPlace = ({ place, name, entry }: Key): string => `${place} ${name.toLowerCase()} ${entry.scheme}`;

interface KeyTerms {
  readonly id: string;
  readonly pointers: Pointers;
  readonly notes: string[];
  readonly security: readonly unknown[];
  readonly schemes: JsonObject;
}

const MOST_KEYS = 5;

/** All credentials of the first security requirement of the document, or of its operations, or else the first one of any scheme. */
function readKeys(document: JsonObject, { id, pointers, notes, security, schemes }: KeyTerms): readonly Key[] {
  const isShared = Array.isArray(document.security) && security.includes(undefined);
  const listed = isShared ? (document.security as unknown[]) : security.flat();
  const sets = listed.filter((one) => isObject(one)).map((one) => Object.keys(one));
  const keysOf = (names: readonly string[]): readonly Key[] => {
    const found = names.flatMap((name) => {
      const what = names.length === 1 ? "KEY" : toVariable(toWord(name), "KEY").replace(/_KEY_KEY$/, "_KEY");
      return toKey(pointers.tryObject(schemes[name]), toVariable(id, what)) ?? [];
    });
    return withoutTwins(found);
  };
  const isSendable = (name: string): boolean => keysOf([name]).length > 0;
  const placesOf = (names: readonly string[]): Set<string> =>
    new Set(names.flatMap((name) => keysOf([name]).map(toPlace)));
  const wanted = sets.find(
    (names) => names.length > 0 && names.every(isSendable) && placesOf(names).size === keysOf(names).length,
  );
  if (wanted) return keysOf(wanted);
  const [any] = [...sets.flat(), ...Object.keys(schemes)].filter(isSendable);
  const [first = []] = sets.filter((names) => names.length > 0);
  const unsent = first.filter((name) => name !== any);
  if (unsent.length > 0) notes.push(`the API asks for credentials that cannot be sent: ${unsent.join(", ")}`);
  return any === undefined ? [] : keysOf([any]);
}

/** Schemes of IANA's registry whose header is made anew for each request. */
const PROVEN_ANEW = /^(?:digest|dpop|gnap|hoba|mutual|negotiate|oauth|privatetoken|scram-.*|vapid)$/i;

/** How API Gateway says that a key is a signature of the request (AWS Signature Version 4). */
const SIGNED = "x-amazon-apigateway-authtype";

function toKey({ type, in: place, name, scheme, [SIGNED]: signed }: JsonObject, variable: string): Key | undefined {
  const inHeader = (word: "Basic" | "Bearer"): Key => ({
    place: "header",
    name: "authorization",
    entry: { variable, header: "authorization", scheme: word },
  });
  if ((type === "http" && PROVEN_ANEW.test(String(scheme))) || signed === "awsSigv4") return undefined;
  if (type === "http") return inHeader(String(scheme).toLowerCase() === "basic" ? "Basic" : "Bearer");
  if (type === "oauth2" || type === "openIdConnect") return inHeader("Bearer");
  if (type !== "apiKey" || typeof name !== "string" || name.length > 64) return undefined;
  if (place === "header" && SENT_HEADER.test(name))
    return { place, name, entry: { variable, header: name.toLowerCase() } };
  return place === "query" ? { place, name, entry: { variable, query: name } } : undefined;
}
