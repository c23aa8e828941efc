import { pathOf } from "../../core/base-url.ts";
import { PATHS } from "../../core/paths.ts";
import type { Identity } from "../../core/peers/identity.ts";
import { toDid } from "../../core/x402/proofs.ts";

/** Where the document is, below the base URL (did:web, section 3.2). */
export const didPathOf = (baseUrl: string): string => (pathOf(baseUrl) === "" ? PATHS.did : PATHS.didBelowPath);

/**
 * The keys that sign offers and receipts (did:web; DID Core 1.0, section 5.2). Retired keys stay in the document, so
 * that older signatures can be verified.
 */
export function toDidDocument(identity: Identity, baseUrl: string): object {
  const id = toDid(baseUrl);
  const methods = identity.keys().map(({ key_id, public_key_der_base64 }) => {
    const x = Buffer.from(public_key_der_base64, "base64").subarray(-32).toString("base64url");
    const publicKeyJwk = { kty: "OKP", crv: "Ed25519", x };
    return { id: `${id}#${key_id}`, type: "JsonWebKey2020", controller: id, publicKeyJwk };
  });
  return {
    "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/suites/jws-2020/v1"],
    id,
    verificationMethod: methods,
    assertionMethod: methods.map((method) => method.id),
  };
}
