import { isIP } from "node:net";
import { isObject } from "../../core/json.ts";
import type { RequestPlan } from "../../core/proxy/plan.ts";
import { isPublicAddress } from "../http/public-address.ts";

/** Names that only lead to the inside (RFC 6761, RFC 6762, RFC 9476, and what clouds use). */
const INSIDE =
  /^(?:localhost|[^.]+)$|\.(?:localhost|local|internal|intranet|lan|home|corp|home\.arpa|test|invalid)\.?$/;

/** What is wrong with an address that a caller names, as far as it shows without asking anybody; or nothing. */
export function explainAddress(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return "this must be a whole http or https URL";
  if (url.username !== "" || url.password !== "") return "this URL must have no user name and no password";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const isPrivate = isIP(host) === 0 ? INSIDE.test(host) : !isPublicAddress(host);
  return isPrivate ? "this must be a public address" : undefined;
}

/** The fields whose schema says that they are URLs, and the one that is asked. */
export function addressesOf(
  { properties }: Readonly<Record<string, unknown>>,
  { target }: RequestPlan,
): readonly string[] {
  const fields = Object.entries(isObject(properties) ? properties : {});
  const urls = fields.filter(([, field]) => isObject(field) && field.format === "uri").map(([name]) => name);
  return target.address ? [...new Set([...urls, target.address.name])] : urls;
}
