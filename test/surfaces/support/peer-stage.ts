import { expect } from "chai";
import { BASE_URL, type Door, type DoorOptions, openDoor } from "../a2a/served/support/door.ts";
import { createPeer, type Peer, toPeerKeys } from "../a2a/served/support/peer.ts";
import type { Loose } from "../mcp/served/support/stall.ts";

/** The error codes of the door. */
export const CODES = { params: -32602, signature: -32001, replay: -32002, policy: -32003, card: -32004 };
/** Budgets that never end. */
export const BOUNDLESS = { take: async () => 0, giveBack: () => {} };

/** A door, new for each test, and a peer whose card it finds. */
export interface PeerStage {
  readonly door: Door;
  readonly peer: Peer;
  /** The cards that can be fetched, by origin: the test may change them. */
  readonly cards: Record<string, object>;
  /** Another door in the place of the first, with the limits of production unless these options replace them. */
  reopen(options?: DoorOptions): Promise<void>;
  ask(message: unknown): Promise<Loose>;
  /** Expects an error with this code and a message that matches. */
  isRefused(message: unknown, code: number, why: RegExp): Promise<void>;
}

/** To be called in a `describe`: opens and closes the door around each of its tests. */
export function stagePeer(): PeerStage {
  let door: Door;
  let peer: Peer;
  let cards: Record<string, object>;
  beforeEach(async () => {
    peer = createPeer(BASE_URL);
    cards = { [peer.origin]: peer.card };
    door = await openDoor({ peerKeys: toPeerKeys(cards), budgets: { clients: BOUNDLESS, peers: BOUNDLESS } });
  });
  afterEach(() => door.close());

  const refusal = async (message: unknown): Promise<Loose> => {
    const { status, body, calls } = await door.post(message);
    expect(status).to.equal(200);
    expect(body).to.have.all.keys("jsonrpc", "id", "error");
    expect(calls).to.deep.equal([]);
    return body.error;
  };

  return {
    get door() {
      return door;
    },
    get peer() {
      return peer;
    },
    get cards() {
      return cards;
    },
    async reopen(options = {}) {
      door.close();
      door = await openDoor({ peerKeys: toPeerKeys(cards), ...options });
    },
    ask: async (message) => (await door.post(message)).body,
    async isRefused(message, code, why) {
      const error = await refusal(message);
      expect(error.code, error.message).to.equal(code);
      expect(error.message).to.match(why);
    },
  };
}
