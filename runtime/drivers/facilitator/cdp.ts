import { randomBytes } from "node:crypto";
import { parseCdpSecret } from "./cdp-secret.ts";
import { createHttpFacilitator, type HttpFacilitator } from "./http.ts";

export interface CdpFacilitatorOptions {
  readonly apiKeyId: string;
  /** An EC key (P-256) as PEM, or an Ed25519 key: base64 of its seed and its public key (64 bytes). */
  readonly apiKeySecret: string;
  /** A base URL that replaces Coinbase's own. */
  readonly url?: string | undefined;
}

const CDP_FACILITATOR_URL = "https://api.cdp.coinbase.com/platform/v2/x402";
const TOKEN_SECONDS = 120;
/** The same fields in the same order as `@coinbase/x402` 2.1.0: Coinbase counts its callers by them. */
const CORRELATION_CONTEXT = "sdk_version=1.29.0,sdk_language=typescript,source=x402,source_version=2.1.0";

/**
 * Coinbase's facilitator: every request has its own short-lived token, signed with the operator's CDP API key.
 * https://docs.cdp.coinbase.com/api-reference/v2/authentication
 */
export function createCdpFacilitator({ apiKeyId, apiKeySecret, url }: CdpFacilitatorOptions): HttpFacilitator {
  const base = url ?? CDP_FACILITATOR_URL;
  const { host, pathname } = new URL(base);
  return createHttpFacilitator({
    url: base,
    async headers(action) {
      const method = action === "supported" ? "GET" : "POST";
      const uri = `${method} ${host}${pathname.replace(/\/$/, "")}/${action}`;
      return {
        authorization: `Bearer ${await signToken(apiKeyId, apiKeySecret, uri)}`,
        "correlation-context": CORRELATION_CONTEXT,
      };
    },
  });
}

/** A JWT (RFC 7519) for one request: valid for one method, host and path, and different each time. */
async function signToken(keyId: string, secret: string, uri: string): Promise<string> {
  const { SignJWT } = await import("jose");
  const key = parseCdpSecret(secret);
  const alg = key.asymmetricKeyType === "ed25519" ? "EdDSA" : "ES256";
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT({ sub: keyId, iss: "cdp", uris: [uri], iat: now, nbf: now, exp: now + TOKEN_SECONDS })
    .setProtectedHeader({ alg, kid: keyId, typ: "JWT", nonce: randomBytes(16).toString("hex") })
    .sign(key);
}
