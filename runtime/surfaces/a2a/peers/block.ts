import { PEER_METHODS, SIGNED_FIELDS } from "../../../core/peers/envelope.ts";
import type { PublishedKey } from "../../../core/peers/identity.ts";
import { PEER_POLICY } from "../../../core/peers/policy.ts";
import { SIGNATURE_RECIPE, toSignedText } from "../../../core/peers/signature.ts";

/** The URI of the peer door as an A2A extension. */
export const PEER_EXTENSION = "urn:payphone:a2a:peer:v1";

/** The digest of the policy that callers must follow. */
export const POLICY_DIGEST: string = toSignedText(PEER_POLICY);

/** The name of the site's peer block in agent cards. */
export const toNamespace = (siteName: string): string => `${siteName}:a2a`;

/** How peers sign their requests. */
export const PEER_SIGNATURE = { ...SIGNATURE_RECIPE, signed_fields: SIGNED_FIELDS };

/** The peer block of a card: the door's URL, how to sign, and our keys. */
export function toPeerBlock(endpoint: string, audience: string, keys: readonly PublishedKey[]): object {
  return {
    endpoint,
    audience,
    transport: "json-rpc-2.0",
    methods: PEER_METHODS,
    signature_algorithm: SIGNATURE_RECIPE.algorithm,
    digest: SIGNATURE_RECIPE.digest,
    signed_fields: SIGNED_FIELDS,
    policy: PEER_POLICY,
    policy_digest: POLICY_DIGEST,
    keys,
  };
}
