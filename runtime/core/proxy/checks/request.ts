import type { Draft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import type { ProxyManifest } from "../../set/manifest.ts";
import { isTreacherous } from "../encoding.ts";
import { toRequestPlan } from "../plan.ts";
import { explainBody } from "./body.ts";

/** What is wrong with a request line that fits its grammar, or nothing. */
export function explainRequestLine(line: string): string | undefined {
  const path = line.slice(line.indexOf(" ") + 1);
  const { target } = toRequestPlan(line);
  if (target.address) return undefined;
  const texts = path.replaceAll(/\{[^{}]*\}/g, "");
  if (/[{}]/.test(texts)) return "a brace is not closed: write placeholders as {name}";
  if (path.startsWith("{"))
    return "an address from the input must stand alone: write the method and {name}, and no more";
  if (texts.includes("?")) return "the path must have no query: write it under query";
  if (/[#\\]/.test(texts)) return "a path must have no fragment and no backslash";
  if (!/^(?:[\w.~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*$/i.test(texts))
    return "characters beyond those of a URL are written as %20 and the like";
  if (path.split("/").some(isTreacherous) || /%2e/i.test(texts)) return 'a path has no segments "." and ".."';
  return path.includes("//") ? "a path must have no empty segments" : undefined;
}

export function checkRequestLine(draft: Draft, proxy: ProxyManifest): Fault[] {
  const { request, upstream } = proxy;
  if (request === undefined) return [];
  const place = ["proxy", "request"];
  const complaint = explainRequestLine(request);
  if (complaint) return [faultAt(draft, place, "bad-request", complaint)];
  const { method, target } = toRequestPlan(request);
  const faults: Fault[] = [];
  const fail = (key: string, why: string): void =>
    void faults.push(faultAtKey(draft, ["proxy", key], "bad-proxy", why));
  if (target.address) {
    if (method !== "GET" && method !== "POST")
      faults.push(faultAt(draft, place, "bad-request", "an address from the input is asked by GET or POST"));
    if (upstream !== undefined)
      fail("upstream", "the input names the address, and must not be sent an upstream's credential: leave it out");
    if (proxy.query) fail("query", "the input names the whole address: leave the query out");
  }
  for (const [key, why] of explainBody(proxy, method)) fail(key, why);
  return [...faults, ...(target.address ? [] : checkHints(draft, method))];
}

function checkHints(draft: Draft, method: string): Fault[] {
  if (!["PUT", "PATCH", "DELETE"].includes(method)) return [];
  const { hints, charge, price, job } = draft.data;
  const changes = `${method} changes something at the upstream`;
  if (hints?.readOnly === true)
    return [faultAt(draft, ["hints", "readOnly"], "bad-proxy", `${changes}: say readOnly: false`)];
  if (price === undefined || charge === "first" || job) return [];
  const complaint = `${changes}, which would remain if nobody paid afterwards: say charge: first`;
  return [faultAt(draft, ["proxy", "request"], "bad-charge", complaint)];
}
