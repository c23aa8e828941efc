import type { JWK } from "jose";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { isLocalUrl } from "../../core/set/site.ts";
import { ask, field, textField } from "../call/http.ts";

/** A signature that is allowed, and that this version cannot check. */
export class Unchecked extends Error {}

/** A host, and the path of its base URL: `/paid`, or an empty text. */
export interface Seller {
  readonly host: string;
  readonly path: string;
}

/** The seller in a did:web key. @throws Error when the key is not a did:web URL. */
export function sellerOf(kid: string): Seller {
  const [, host, path = ""] = /^did:web:([^:#/]+)((?::[\w.~-]+)*)(?:#|$)/.exec(kid) ?? [];
  if (host === undefined) throw new Error(`"${kid}" is no key of a host (did:web)`);
  return { host: decodeURIComponent(host), path: path.replaceAll(":", "/") };
}

/** The seller by what is said to be signed, for keys that name no host; undefined where that names none either. */
export function claimedSeller(kid: string, said: unknown): Seller | undefined {
  if (kid.startsWith("did:web:")) return sellerOf(kid);
  const url = URL.parse(textField(said, "resourceUrl") ?? "");
  return url ? { host: url.host, path: "" } : undefined;
}

/** Whether a web address is the seller's. */
export function isUrlOf({ host, path }: Seller, address: unknown): boolean {
  const url = URL.parse(String(address));
  return url?.host === host && url.pathname.startsWith(`${path}/`);
}

/** The statuses by which a host says what it publishes. Any other, like 403 or a redirect, leaves that open. */
const TOLD: readonly number[] = [200, 404, 410];

/**
 * The public key that the host publishes (did:web, section 3.2). Fetched over https, except from this machine.
 * @throws Problem `upstream-failed` when the host does not answer, or does not say.
 */
export async function findKey(kid: string, signal: AbortSignal): Promise<JWK> {
  const { host, path } = sellerOf(kid);
  const scheme = isLocalUrl(`https://${host}`) ? "http" : "https";
  const url = `${scheme}://${host}${path || "/.well-known"}/did.json`;
  const { status, json } = await ask({ method: "GET", url, body: undefined }, { signal, timeoutMs: 10_000 });
  if (!TOLD.includes(status)) throw new Problem("upstream-failed", `${url} answers ${status}`);
  const methods = field(json, "verificationMethod");
  const method = Array.isArray(methods) ? methods.find((one) => textField(one, "id") === kid) : undefined;
  const jwk = field(method, "publicKeyJwk");
  if (method !== undefined && jwk === undefined)
    throw new Unchecked(`${url} has "${kid}" in another form than as a JWK`);
  if (!isObject(jwk)) throw new Error(`${url} has no key "${kid}"`);
  return jwk;
}
