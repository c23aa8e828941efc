import { PEER_METHODS, SIGNED_FIELDS } from "../../core/peers/envelope.ts";
import type { PublishedKey } from "../../core/peers/identity.ts";
import { PEER_POLICY } from "../../core/peers/policy.ts";
import { SIGNATURE_RECIPE, toSignedText } from "../../core/peers/signature.ts";

/** The URI of the peer door as an A2A extension. */
export const PEER_EXTENSION = "urn:payphone:a2a:peer:v1";

/** What the peer door asks of callers, as one digest. */
export const POLICY_DIGEST: string = toSignedText(PEER_POLICY);

/** The names of the site's blocks in agent cards. */
export const toNamespace = (siteName: string): string => `${siteName}:a2a`;

/** The recipe by which peers sign. */
export const PEER_SIGNATURE = { ...SIGNATURE_RECIPE, signed_fields: SIGNED_FIELDS };

/** What a card says of the peer door: where it is, how to sign, and our keys. */
export function toPeerBlock(endpoint: string, audience: string, keys: readonly PublishedKey[]): object {
  return {
    ...{ endpoint, audience, transport: "json-rpc-2.0", methods: PEER_METHODS },
    ...{
      signature_algorithm: SIGNATURE_RECIPE.algorithm,
      digest: SIGNATURE_RECIPE.digest,
      signed_fields: SIGNED_FIELDS,
    },
    ...{ policy: PEER_POLICY, policy_digest: POLICY_DIGEST },
    keys,
  };
}
