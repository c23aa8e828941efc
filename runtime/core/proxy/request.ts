import { isObject } from "../json.ts";
import { type ProxyBody, toBody } from "./body.ts";
import { type Encode, inHeader, inPath, inQuery, isTreacherous } from "./encoding.ts";
import type { HttpMethod, RequestPlan } from "./plan.ts";
import { isSpread, toSpread } from "./spread.ts";
import { placeholdersOf, readPlace, type Scope, soleOf, type Template } from "./template.ts";
import { fill, toBadValue, toEncoded } from "./values.ts";

/** A request, ready to be sent. Input values are encoded, so that they cannot change the request's structure. */
export interface ProxyRequest {
  readonly method: HttpMethod;
  /** An encoded path that begins with a slash; or the whole URL when the input names it. */
  readonly target: string;
  /** Encoded, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: ProxyBody;
}

/** Fills a request from the checked input. @throws Problem `invalid-input` for a value that does not fit its place. */
export function toRequest(plan: RequestPlan, scope: Scope): ProxyRequest {
  const { method, headers } = plan;
  const filled = headers.flatMap(([name, template]) => {
    const text = fillUnlessEmpty(template, scope, inHeader);
    return text === undefined ? [] : [[name, text] as const];
  });
  const body = toBody(plan, scope);
  return {
    method,
    target: toTarget(plan, scope),
    query: plan.query
      .flatMap(([name, template]) =>
        isSpread(name) ? toSpread(name, template, { scope, plan }) : toParameters(name, template, scope),
      )
      .join("&"),
    // Without a body, its type is not sent.
    headers: Object.fromEntries(body ? filled : filled.filter(([name]) => name !== "content-type")),
    ...(body && { body }),
  };
}

function toTarget({ target }: RequestPlan, scope: Scope): string {
  if (!target.address) return target.segments.map((segment) => `/${toSegment(segment, scope)}`).join("");
  const url = readPlace(target.address, scope);
  if (typeof url !== "string") throw toBadValue(target.address, url, "the address is missing");
  return url;
}

function toSegment(template: Template, scope: Scope): string {
  const text = fill(template, scope, inPath);
  const places = placeholdersOf(template);
  const place = places.find((one) => text === undefined && readPlace(one, scope) === undefined) ?? places[0];
  if (!place) return text ?? "";
  const value = readPlace(place, scope);
  if (!text) throw toBadValue(place, value, "it stands in a path and must not be empty");
  if (text.split(/\/|%2F/).some(isTreacherous))
    throw toBadValue(place, value, 'it stands in a path and must not be "." or ".."');
  return text;
}

/** `name=value`, repeated for an exploded list; nothing for an absent value. */
function toParameters(name: string, template: Template, scope: Scope): string[] {
  const sole = soleOf(template);
  const value = sole?.isExploded ? readPlace(sole, scope) : undefined;
  if (sole && Array.isArray(value)) return value.map((item) => `${name}=${toEncoded(item, sole, inQuery)}`);
  const text = fillUnlessEmpty(template, scope, inQuery);
  return text === undefined ? [] : [`${name}=${text}`];
}

/** As `fill`; undefined also for a list or mapping without a value in it (RFC 6570, section 2.3). */
const fillUnlessEmpty = (template: Template, scope: Scope, encode: Encode): string | undefined =>
  placeholdersOf(template).some((place) => isEmpty(readPlace(place, scope)))
    ? undefined
    : fill(template, scope, encode);

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : isObject(value) && Object.values(value).every((one) => one === null);
