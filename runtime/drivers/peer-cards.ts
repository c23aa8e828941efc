import type { Clock } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import type { Budget } from "../core/peer-budget.ts";
import { type CardKeys, type PeerKeyAnswer, type PeerKeys, readCardKeys, toPeerKey } from "../core/peer-keys.ts";
import { AGENT_CARD_PATH } from "../core/peer-origin.ts";
import { PEER_POLICY } from "../core/peer-policy.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";

export interface PeerCardsDeps {
  readonly fetch: Pick<GuardedFetch, "get">;
  readonly clock: Clock;
  readonly budgets: { readonly fetches: Budget; readonly fetchesOfClients: Budget };
}

/** What a card said, or why there is none. */
type Reading = { readonly keys: CardKeys } | { readonly reason: string };
type Kept = Reading & { readonly until: number };

/** Origins that are remembered at once; the oldest makes room. */
const MOST_ORIGINS = 2000;
const EVERYBODY = "all";

/**
 * The keys of peers, from their agent cards. A card is fetched before anything is known of who asks for it, so fetches
 * are few, shared out among client addresses, and remembered when they fail too. Of a card, only its keys are kept.
 */
export function createPeerCards({ fetch, clock, budgets }: PeerCardsDeps): PeerKeys {
  const kept = new Map<string, Kept>();
  const running = new Map<string, Promise<Reading>>();

  return {
    async find(peer, client) {
      const { origin } = peer;
      const known = kept.get(origin);
      if (known && known.until > clock.now()) return toAnswer(known, peer);
      const other = running.get(origin);
      if (other) return toAnswer(await other, peer);
      const retryAfter = (await budgets.fetchesOfClients.take(client)) || (await budgets.fetches.take(EVERYBODY));
      if (retryAfter > 0) return { kind: "busy", retryAfter };
      return toAnswer(await (running.get(origin) ?? start(origin)), peer);
    },
  };

  function start(origin: string): Promise<Reading> {
    const reading = readCard(origin)
      .then((read) => keep(origin, read))
      .finally(() => running.delete(origin));
    running.set(origin, reading);
    return reading;
  }

  function keep(origin: string, read: Reading): Reading {
    const seconds = "keys" in read ? PEER_POLICY.card_seconds : PEER_POLICY.card_failure_seconds;
    kept.delete(origin);
    kept.set(origin, { ...read, until: clock.now() + seconds * 1000 });
    const [oldest] = kept.keys();
    if (kept.size > MOST_ORIGINS && oldest !== undefined) kept.delete(oldest);
    return read;
  }

  async function readCard(origin: string): Promise<Reading> {
    try {
      const { status, body } = await fetch.get(origin + AGENT_CARD_PATH, {
        headers: { accept: "application/json" },
        timeoutMs: PEER_POLICY.card_timeout_seconds * 1000,
        maxBytes: PEER_POLICY.card_bytes,
      });
      if (status !== 200) return { reason: `The agent card at ${origin} was answered with status ${status}` };
      return { keys: readCardKeys(JSON.parse(body.toString())) };
    } catch (error) {
      if (error instanceof SyntaxError) return { reason: `The agent card at ${origin} is not JSON` };
      if (error instanceof Problem) return { reason: `The agent card cannot be read: ${error.message}` };
      throw error;
    }
  }
}

const toAnswer = (read: Reading, peer: Parameters<PeerKeys["find"]>[0]): PeerKeyAnswer =>
  "keys" in read ? toPeerKey(read.keys, peer) : { kind: "refused", reason: read.reason };
