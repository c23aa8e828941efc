import { expect } from "chai";
import { BASE_URL, BOUNDLESS, type Door, type DoorOptions, openDoor } from "../a2a/served/support/door.ts";
import { createPeer, type Peer, toPeerKeys } from "../a2a/served/support/peer.ts";
import type { Loose } from "../mcp/served/support/stall.ts";

/** The error codes of the door. */
export const CODES = { params: -32602, signature: -32001, replay: -32002, policy: -32003, card: -32004 };

/** A door, new for each test, and a peer whose card it finds. */
export interface PeerStage {
  door: Door;
  peer: Peer;
  /** The cards that can be fetched, by origin: the test may change them. */
  cards: Record<string, object>;
  /** Another door in the place of the first, with the limits of production unless these options replace them. */
  reopen(options?: DoorOptions): Promise<void>;
  ask(message: unknown): Promise<Loose>;
  /** Expects an error with this code and a message that matches. */
  isRefused(message: unknown, code: number, why: RegExp): Promise<void>;
}

/** To be called in a `describe`: opens and closes the door around each of its tests. */
export function stagePeer(): PeerStage {
  beforeEach(async () => {
    stage.peer = createPeer(BASE_URL);
    stage.cards = { [stage.peer.origin]: stage.peer.card };
    stage.door = await openDoor({ peerKeys: toPeerKeys(stage.cards), budgets: BOUNDLESS });
  });
  afterEach(() => stage.door.close());

  const refusal = async (message: unknown): Promise<Loose> => {
    const { status, body, calls } = await stage.door.post(message);
    expect(status).to.equal(200);
    expect(body).to.have.all.keys("jsonrpc", "id", "error");
    expect(calls).to.deep.equal([]);
    return body.error;
  };

  const stage = {
    async reopen(options = {}) {
      stage.door.close();
      stage.door = await openDoor({ peerKeys: toPeerKeys(stage.cards), ...options });
    },
    ask: async (message) => (await stage.door.post(message)).body,
    async isRefused(message, code, why) {
      const error = await refusal(message);
      expect(error.code, error.message).to.equal(code);
      expect(error.message).to.match(why);
    },
  } as PeerStage; // The rest is there before each test.
  return stage;
}
