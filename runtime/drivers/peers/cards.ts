import type { Clock, Web } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { PATHS } from "../../core/paths.ts";
import type { Budget } from "../../core/peers/budget.ts";
import { type CardKeys, type PeerKeyAnswer, type PeerKeys, readCardKeys, toPeerKey } from "../../core/peers/keys.ts";
import { PEER_POLICY } from "../../core/peers/policy.ts";

export interface PeerCardsDeps {
  readonly web: Web;
  readonly clock: Clock;
  readonly budgets: { readonly fetches: Budget; readonly fetchesOfClients: Budget };
}

/** The keys of a card, or the reason why there are none. */
type Reading = { readonly keys: CardKeys } | { readonly reason: string };
type Kept = Reading & { readonly at: number; readonly forMs: number };
type Busy = { readonly retryAfter: number };

/** The most origins in the cache; the oldest is removed. */
const MOST_ORIGINS = 2000;
const EVERYBODY = "all";

/**
 * The keys of peers, from their agent cards. A card is fetched before the sender is authenticated, so fetches are
 * limited per client address and in total, and failures are cached, too. Only the keys of a card are kept.
 */
export function createPeerCards({ web, clock, budgets }: PeerCardsDeps): PeerKeys {
  const kept = new Map<string, Kept>();
  const running = new Map<string, Promise<Reading | Busy>>();

  return {
    async find(peer, client) {
      const { origin } = peer;
      for (;;) {
        const known = kept.get(origin);
        if (known && Math.abs(clock.now() - known.at) < known.forMs) return toAnswer(known, peer);
        const other = running.get(origin);
        const read = await (other ?? start(origin, client));
        if (!("retryAfter" in read)) return toAnswer(read, peer);
        if (!other) return { kind: "busy", ...read }; // Another client's spent budget does not count here: try again.
      }
    },
  };

  function start(origin: string, client: string): Promise<Reading | Busy> {
    const reading = admit(client)
      .then(async (retryAfter) => (retryAfter > 0 ? { retryAfter } : keep(origin, await readCard(origin))))
      .finally(() => running.delete(origin));
    running.set(origin, reading);
    return reading;
  }

  async function admit(client: string): Promise<number> {
    return (await budgets.fetchesOfClients.take(client)) || budgets.fetches.take(EVERYBODY);
  }

  function keep(origin: string, read: Reading): Reading {
    const seconds = "keys" in read ? PEER_POLICY.card_seconds : PEER_POLICY.card_failure_seconds;
    kept.delete(origin);
    kept.set(origin, { ...read, at: clock.now(), forMs: seconds * 1000 });
    const [oldest] = kept.keys();
    if (kept.size > MOST_ORIGINS && oldest !== undefined) kept.delete(oldest);
    return read;
  }

  async function readCard(origin: string): Promise<Reading> {
    try {
      const { status, body } = await web.fetch(origin + PATHS.agentCard, {
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
