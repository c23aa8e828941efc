import { isCollection, isObject } from "../json.ts";
import { CREDENTIAL } from "./credential.ts";
import { inQuery } from "./encoding.ts";
import type { RequestPlan } from "./plan.ts";
import { type Placeholder, readPlace, type Scope, soleOf, type Template } from "./template.ts";
import { toBadValue, toEncoded } from "./values.ts";

/** Whether a parameter is repeated for each field of a mapping: `*` is the field's name, as in `filter[*]`. */
export const isSpread = (name: string): boolean => name === "*" || ANY_FIELD.test(name);

const ANY_FIELD = /(?:\[|%5B)\*(?:\]|%5D)$/;

/** Names that have no special meaning for any reader. */
const NAME = /^(?!__proto__$|constructor$|prototype$)[\p{L}\p{N}_.$:@-]{1,64}$/u;
/** In a form, names in brackets may have spaces between their characters, as the keys of Stripe's `metadata` may. */
const NAME_IN_BRACKETS = /^(?!__proto__$|constructor$|prototype$| )[\p{L}\p{N}_.$:@ -]{1,64}(?<! )$/u;
const NAMES = "names of its fields must be made of letters, digits and _ . $ : @ -";
const DEEPEST = 8;

/** The request in which a mapping is spread. */
export interface SpreadTerms {
  readonly scope: Scope;
  readonly plan: Pick<RequestPlan, "reserved" | "fixed">;
  /** Whether it is spread in a form, where each item of a list has its number. */
  readonly isForm?: boolean;
}

/**
 * `filter[a]=1&filter[b]=2` for `filter[*]`, and `a=1&b=2` for `*`. A nested mapping gives `filter[a][b]=1`, a list of
 * mappings `filter[a][0][b]=1`; any other list in it repeats its parameter, and is `filter[a][0]=1` in a form.
 * `filter[*]` also takes a list, which gives `filter[0]=1`, and a single value, which gives `filter=1`.
 * @throws Problem `invalid-input` where `*` has no mapping, and for names that are special to the upstream.
 */
export function toSpread(name: string, template: Template, { scope, plan, isForm = false }: SpreadTerms): string[] {
  const place = soleOf(template);
  const value = place && readPlace(place, scope);
  if (!place || value === undefined) return [];
  const refuse = (taken: string | undefined): void => {
    if (taken !== undefined)
      throw toBadValue(place, value, `its field ${JSON.stringify(taken)} cannot be set by callers`);
  };
  if (name !== "*") {
    const pattern = isForm ? NAME_IN_BRACKETS : NAME;
    const made = isCollection(value)
      ? toFields(value, place, { depth: 1, isForm, pattern, wrap: (key) => name.replace("*", () => key) })
      : [`${name.replace(ANY_FIELD, "")}=${toEncoded(value, place, inQuery)}`];
    refuse(made.map(nameOf).find((one) => plan.fixed.some((other) => meet(one, other))));
    return made;
  }
  if (!isObject(value)) throw toBadValue(place, value, "each of its fields is sent by itself: it must be a mapping");
  const isTaken = (key: string): boolean =>
    plan.reserved.some((one) => meet(key, one)) || CREDENTIAL.test(toPlain(key));
  refuse(Object.keys(value).find(isTaken));
  return toFields(value, place, { depth: DEEPEST, isForm, pattern: NAME, wrap: (key) => key });
}

/** The name in a pair of `toSpread`. */
const nameOf = (pair: string): string => decodeURIComponent(pair.slice(0, pair.indexOf("=")));

/** Whether two parameters are one, or one is a part of the other, as `filter[a]` is of `filter`. */
const meet = (one: string, other: string): boolean =>
  wholesOf(one).includes(toPlain(other)) || wholesOf(other).includes(toPlain(one));

/** A name, and those of what it is a part of: `a[b][c]`, `a[b]` and `a`. */
const wholesOf = (name: string): readonly string[] =>
  name.split("[").map((_, at, parts) => toPlain(parts.slice(0, at + 1).join("[")));

/** Normalizes a name: some servers read `api.key` as `api_key` or `api[key]`, and ignore case. */
const toPlain = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/_$/, "");

interface Level {
  readonly depth: number;
  readonly isForm: boolean;
  /** What names must be. */
  readonly pattern: RegExp;
  readonly wrap: (key: string) => string;
}

function toFields(fields: object, place: Placeholder, { depth, isForm, pattern, wrap }: Level): string[] {
  return Object.entries(fields).flatMap(([key, value]: [string, unknown]) => {
    if (!pattern.test(key))
      throw toBadValue(place, fields, pattern === NAME ? NAMES : `${NAMES}, and spaces between them`);
    const name = wrap(encodeURIComponent(key));
    const isApart = isObject(value) || (Array.isArray(value) && (isForm || value.some(isCollection)));
    if (isApart && depth < DEEPEST)
      return toFields(value, place, { depth: depth + 1, isForm, pattern, wrap: (inner) => `${name}%5B${inner}%5D` });
    const items = [value ?? []].flat();
    if (items.some((item) => typeof item === "object")) throw toBadValue(place, fields, "it is nested too deeply");
    return items.map((item) => `${name}=${toEncoded(item, place, inQuery)}`);
  });
}
