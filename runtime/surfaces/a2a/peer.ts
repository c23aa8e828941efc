import type { Clock } from "../../api/capabilities.ts";
import { sha256 } from "../../core/digest.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { isSealedBy, PEER_METHODS, type PeerMethod, readEnvelope } from "../../core/peers/envelope.ts";
import type { PeerKeys } from "../../core/peers/keys.ts";
import { PEER_POLICY } from "../../core/peers/policy.ts";
import type { Store } from "../../core/store.ts";
import type { RpcParams } from "../json-rpc.ts";
import { PEER_CODES, type Refusal, refuse, refuseForNow } from "./errors.ts";
import type { PeerMethods } from "./peer-methods.ts";

export interface PeerDoorOptions {
  readonly methods: PeerMethods;
  readonly keys: PeerKeys;
  readonly store: Pick<Store, "putIfAbsent">;
  /** By origin. Only verified requests are counted: else anybody could lock a peer out by claiming to be it. */
  readonly budget: Budget;
  /** Our public base URL, exactly: whom envelopes must be for. */
  readonly audience: string;
  readonly clock: Clock;
}

/** The signed peer door: the four methods behind their signature check (specification 4.3 and 5.6). */
export type PeerDoor = (method: PeerMethod, params: RpcParams, client: string) => Promise<object | Refusal>;

/** The peer door's method of this name. */
export const findPeerMethod = (name: string): PeerMethod | undefined => PEER_METHODS.find((known) => known === name);

/**
 * The order is the promise: what costs nothing is checked first, a nonce is claimed only by a signature that holds, so
 * that nobody can burn a peer's nonces, and before the peer is charged for the request, so that nobody can spend its
 * budget with copies. A claimed nonce is executed once.
 */
export function createPeerDoor({ methods, keys, store, budget, audience, clock }: PeerDoorOptions): PeerDoor {
  return async (method, params, client) => {
    const envelope = readEnvelope(params, { audience, now: clock.now() / 1000 });
    if (typeof envelope === "string") return refuse(PEER_CODES.invalidParams, envelope);
    const { origin, key_id: keyId, nonce } = envelope;
    const answer = await keys.find({ origin, keyId }, client);
    if (answer.kind === "busy") return refuseForNow(PEER_CODES.policy, answer.retryAfter);
    if (answer.kind === "refused") return refuse(PEER_CODES.peerCard, answer.reason);
    if (!isSealedBy(answer.key, method, envelope)) return refuse(PEER_CODES.badSignature, BAD_SIGNATURE);
    const claimed = await store.putIfAbsent(toNonceKey(origin, nonce), 1, PEER_POLICY.nonce_seconds * 1000);
    if (!claimed) return refuse(PEER_CODES.replay, "This nonce was used before; sign the request anew");
    const retryAfter = await budget.take(origin);
    return retryAfter > 0 ? refuseForNow(PEER_CODES.policy, retryAfter) : methods(method, envelope);
  };
}

const BAD_SIGNATURE = "The signature does not hold over the digest of the seven signed fields in their canonical form";

/** No origin holds a line break, so that no two pairs share a key. */
const toNonceKey = (origin: string, nonce: string): string => `a2a:nonce:${sha256(`${origin}\n${nonce}`)}`;
