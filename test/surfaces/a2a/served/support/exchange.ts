import { verify } from "node:crypto";
import { expect } from "chai";
import { canonicalOf, sha256 } from "../../../../../runtime/core/digest.ts";
import type { Loose } from "../../../mcp/served/support/stall.ts";
import { BASE_URL, BOUNDLESS, type Door, openDoor } from "./door.ts";
import { createPeer, type Peer, toKey, toPeerKeys } from "./peer.ts";

/** A door, and two peers that it knows. */
export interface ExchangeStage {
  readonly door: Door;
  readonly peer: Peer;
  readonly other: Peer;
  /** Asks for a quote as the first peer. */
  quote(body?: unknown): Promise<Loose>;
  receipt(body: unknown, who?: Peer): Promise<Loose>;
  /** A paid call over the door's own `invoke`, as the server makes it of a request that names an exchange. */
  buy(id: string, exchange: string | undefined, payment?: object): Promise<Loose>;
}

/** As a stranger verifies it, with what the card and the payload say, and nothing of ours. */
export function isSigned({ digest, signed, signature_algorithm, key_id: _, signature, ...payload }: Loose): boolean {
  expect({ signed, signature_algorithm }).to.deep.equal({ signed: true, signature_algorithm: "ed25519" });
  expect(digest).to.equal(`sha256:${sha256(canonicalOf(payload))}`);
  return verify(null, Buffer.from(digest), toKey("11".repeat(32)), Buffer.from(signature, "base64"));
}

export async function openExchanges(): Promise<ExchangeStage> {
  const now = (): number => door.clock.now();
  const peer = createPeer(BASE_URL, { now });
  const other = createPeer(BASE_URL, { origin: "https://other.example", seed: "22".repeat(32), now });
  const door = await openDoor({
    peerKeys: toPeerKeys({ [peer.origin]: peer.card, [other.origin]: other.card }),
    budgets: BOUNDLESS,
  });
  return {
    door,
    peer,
    other,
    quote: async (body = { skill: "roll" }) => (await door.post(peer.seal("peer/quote", { body }))).body,
    receipt: async (body, who = peer) => (await door.post(who.seal("peer/receipt", { body }))).body,
    async buy(id, exchange, payment) {
      const service = door.services.find(({ manifest }) => manifest.id === id)!;
      const call = {
        id: "request",
        input: async () => ({ value: { low: 1, high: 6 }, from: "body" as const }),
        resource: `${BASE_URL}${service.path}`,
        signal: new AbortController().signal,
        exchange,
      };
      const unpaid: Loose = await door.invoke(service, { ...call, payment: undefined });
      const paid = payment ?? door.pay(unpaid.challenge.required);
      return { outcome: await door.invoke(service, { ...call, payment: paid }), payment: paid };
    },
  };
}
