import type { Clock } from "../../../api/capabilities.ts";
import { sha256 } from "../../../core/digest.ts";
import type { Budget } from "../../../core/peers/budget.ts";
import { isSealedBy, PEER_METHODS, type PeerMethod, readEnvelope } from "../../../core/peers/envelope.ts";
import type { PeerKeys } from "../../../core/peers/keys.ts";
import { PEER_POLICY } from "../../../core/peers/policy.ts";
import type { Store } from "../../../core/store.ts";
import type { RpcParams } from "../../rpc/json-rpc.ts";
import { type A2aRefusal, PEER_CODES, refuse, refuseForNow } from "../errors.ts";
import type { PeerMethods } from "./methods.ts";

export interface PeerDoorOptions {
  readonly methods: PeerMethods;
  readonly keys: PeerKeys;
  readonly store: Pick<Store, "putIfAbsent">;
  /** By origin. Only verified requests count; otherwise anybody could use up a peer's budget in its name. */
  readonly budget: Budget;
  /** Our public base URL, which envelopes must name exactly. */
  readonly audience: string;
  readonly clock: Clock;
}

/** The four signed peer methods, behind their signature check. */
export type PeerDoor = (method: PeerMethod, params: RpcParams, client: string) => Promise<object | A2aRefusal>;

/** The peer door's method of this name. */
export const findPeerMethod = (name: string): PeerMethod | undefined => PEER_METHODS.find((known) => known === name);

/**
 * The order of the checks matters. Cheap checks come first. A nonce is claimed only after its signature was verified, so
 * that nobody can use up a peer's nonces, and before the peer's budget is spent, so that copies of a request cannot spend
 * it. A claimed nonce is executed once.
 */
export function createPeerDoor({ methods, keys, store, budget, audience, clock }: PeerDoorOptions): PeerDoor {
  return async (method, params, client) => {
    const read = readEnvelope(params, { audience, now: clock.now() / 1000 });
    if (read.kind === "malformed") return refuse(PEER_CODES.invalidParams, read.reason);
    const { envelope } = read;
    const { origin, key_id: keyId, nonce } = envelope;
    const answer = await keys.find({ origin, keyId }, client);
    if (answer.kind === "busy") return refuseForNow(answer.retryAfter);
    if (answer.kind === "refused") return refuse(PEER_CODES.peerCard, answer.reason);
    if (!isSealedBy(answer.key, method, envelope)) return refuse(PEER_CODES.badSignature, BAD_SIGNATURE);
    const claimed = await store.putIfAbsent(toNonceKey(origin, nonce), 1, PEER_POLICY.nonce_seconds * 1000);
    if (!claimed) return refuse(PEER_CODES.replay, "This nonce was used before; sign the request anew");
    const retryAfter = await budget.take(origin);
    return retryAfter > 0 ? refuseForNow(retryAfter) : methods(method, envelope);
  };
}

const BAD_SIGNATURE = "The signature does not hold over the digest of the seven signed fields in their canonical form";

/** An origin holds no line break, so two different pairs never have the same key. */
const toNonceKey = (origin: string, nonce: string): string => `a2a:nonce:${sha256(`${origin}\n${nonce}`)}`;
