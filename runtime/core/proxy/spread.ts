import { isObject } from "../json.ts";
import { CREDENTIAL } from "./credential.ts";
import { inQuery } from "./encoding.ts";
import type { RequestPlan } from "./plan.ts";
import { type Placeholder, readPlace, type Scope, soleOf, type Template } from "./template.ts";
import { toBadValue, toEncoded } from "./values.ts";

/** Whether a query parameter is repeated for each field of a mapping: `*` is the field's name, as in `filter[*]`. */
export const isSpread = (name: string): boolean => name === "*" || /(?:\[|%5B)\*(?:\]|%5D)$/.test(name);

/** Names that have no special meaning for any reader. */
const NAME = /^(?!__proto__$|constructor$|prototype$)[\p{L}\p{N}_.$:@-]{1,64}$/u;
const DEEPEST = 4;

/** The request in which a mapping is spread. */
export interface SpreadTerms {
  readonly scope: Scope;
  readonly plan: Pick<RequestPlan, "reserved">;
}

/**
 * `filter[a]=1&filter[b]=2` for `filter[*]`, and `a=1&b=2` for `*`. A list repeats its parameter; a nested mapping
 * gives `filter[a][b]=1`.
 * @throws Problem `invalid-input` for a value that is not a mapping, and for names that are special to the upstream.
 */
export function toSpread(name: string, template: Template, { scope, plan }: SpreadTerms): string[] {
  const place = soleOf(template);
  const value = place && readPlace(place, scope);
  if (!place || value === undefined) return [];
  if (!isObject(value)) throw toBadValue(place, value, "each of its fields is sent by itself: it must be a mapping");
  if (name === "*") {
    const reserved = plan.reserved.map(toPlain);
    const taken = Object.keys(value).find((key) => reserved.includes(toPlain(key)) || CREDENTIAL.test(toPlain(key)));
    if (taken !== undefined) throw toBadValue(place, value, `its field ${JSON.stringify(taken)} is not for callers`);
  }
  return toFields(value, place, { depth: name === "*" ? DEEPEST : 1, wrap: (key) => name.replace("*", () => key) });
}

/** Normalizes a name: some servers read `api.key` as `api_key`, and ignore case. */
const toPlain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "_");

interface Level {
  readonly depth: number;
  readonly wrap: (key: string) => string;
}

function toFields(fields: object, place: Placeholder, { depth, wrap }: Level): string[] {
  return Object.entries(fields).flatMap(([key, value]: [string, unknown]) => {
    if (!NAME.test(key)) throw toBadValue(place, fields, "names of its fields are letters, digits and _ . $ : @ -");
    const name = wrap(encodeURIComponent(key));
    if (isObject(value) && depth < DEEPEST)
      return toFields(value, place, { depth: depth + 1, wrap: (inner) => `${name}%5B${inner}%5D` });
    const items = [value ?? []].flat();
    if (items.some((item) => typeof item === "object")) throw toBadValue(place, fields, "it is nested too deeply");
    return items.map((item) => `${name}=${toEncoded(item, place, inQuery)}`);
  });
}
