import { isObject } from "../../core/json.ts";
import { type KeyManifest, keysOf } from "../../core/set/manifest.ts";
import type { UpstreamEntry } from "./imported.ts";

/** An environment variable that an operator sets. */
export interface Variable {
  readonly name: string;
  /** What it holds. */
  readonly what: string;
}

/** The variables that an upstream requires: its address when the source names none, and its credentials. */
export function variablesOf(entry: UpstreamEntry): readonly Variable[] {
  const { title, url, variable, env, mcp } = entry;
  const isUnnamed = url === undefined && typeof variable === "string";
  return [
    ...(isUnnamed ? [{ name: variable, what: `the address of ${title}` }] : []),
    ...keysOf(entry as object)
      .filter(isObject)
      .map((key) => toVariable(key, title)), // Named like this by the importers.
    ...(mcp === "stdio" && Array.isArray(env)
      ? env.map((name) => ({ name: String(name), what: `a variable of ${title}` }))
      : []),
  ];
}

const FORMS: Readonly<Record<string, string>> = {
  Basic: "user name and password with a colon between them, in base64",
  Bearer: "a bearer token",
};

function toVariable({ variable, header, query, scheme }: KeyManifest, title: string): Variable {
  const form = scheme && FORMS[scheme];
  const place = header === undefined ? `query parameter ${query}` : `header ${header}`;
  const whole = header === "authorization" ? ' as it is, with its scheme, such as "Bearer ..."' : "";
  return { name: variable, what: `the credential for ${title}: ${form ?? `sent in the ${place}${whole}`}` };
}
