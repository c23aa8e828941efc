import { randomUUID } from "node:crypto";
import { Problem } from "../../api/problem.ts";
import type { Store } from "../store.ts";

/** The exclusive right to work on one key. */
export interface Lease {
  /** Aborted when the lease expired: this process stalled, or could not reach the store, for longer than the lease. */
  lost(): AbortSignal;
  release(): Promise<void>;
}

/** Leases of keys: each has one holder at a time, across all processes that share the store. */
export interface Leases {
  /** A lease; undefined while another holder has the key. */
  claim(key: string): Promise<Lease | undefined>;
  /** Whether any process holds the key. */
  isClaimed(key: string): Promise<boolean>;
  /** Whether this process holds the key, by its own clock. */
  holds(key: string): boolean;
  /** Stops renewing: leases still held expire. */
  close(): void;
}

export interface LeasesOptions {
  readonly store: Store;
  /** The prefix of these keys in the store. */
  readonly prefix: string;
  readonly onError: (error: unknown) => void;
  /** Whether an expired lease is claimed again before it counts as lost; only for work that may be done twice. */
  readonly reclaims?: boolean;
  /** How long a lease outlives its process; 2 seconds by default. */
  readonly leaseMs?: number | undefined;
}

/** Leases that are renewed while the process lives. */
export function createLeases({ store, prefix, onError, reclaims = false, leaseMs = 2000 }: LeasesOptions): Leases {
  const owner = randomUUID();
  const held = new Map<string, Held>();
  const timer = setInterval(renewAll, leaseMs / 5);
  timer.unref();

  const isOurs = (lease: Held | undefined): boolean =>
    lease !== undefined && performance.now() - lease.renewedAt < leaseMs;
  const put = (key: string): Promise<boolean> => store.putIfAbsent(prefix + key, owner, leaseMs, "lazy");

  return {
    async claim(key) {
      if (isOurs(held.get(key))) return undefined; // The store's clock may have been set forward.
      const lease: Held = { renewedAt: performance.now(), isLapsed: false, isLost: false };
      if (!(await put(key)) || !isOurs(lease)) return undefined;
      held.set(key, lease);
      return {
        lost: () => lostSignalOf(lease),
        async release() {
          if (held.get(key) !== lease) return;
          held.delete(key);
          if (isOurs(lease)) await store.delete(prefix + key, "lazy");
        },
      };
    },
    isClaimed: async (key) => isOurs(held.get(key)) || (await store.get(prefix + key)) !== undefined,
    holds: (key) => isOurs(held.get(key)),
    close: () => clearInterval(timer),
  };

  function renewAll(): void {
    for (const [key, lease] of held) {
      if (isOurs(lease)) renew(key, lease).catch(onError);
      else if (!lease.isLapsed) void lapse(key, lease);
    }
  }

  async function renew(key: string, lease: Held): Promise<void> {
    const renewedAt = performance.now();
    await store.set(prefix + key, owner, leaseMs, "lazy");
    lease.renewedAt = renewedAt;
  }

  async function lapse(key: string, lease: Held): Promise<void> {
    lease.isLapsed = true;
    const isBack = reclaims && (await reclaim(key, lease).catch(onError)) === true;
    if (isBack && held.get(key) !== lease) await store.delete(prefix + key, "lazy").catch(onError); // Released meanwhile.
    lease.isLapsed = false;
    if (isBack || held.get(key) !== lease) return;
    held.delete(key);
    lease.isLost = true;
    lease.lost?.abort(lapsed());
  }

  /** False when another process has the key now. A late renewal may have kept it ours. */
  async function reclaim(key: string, lease: Held): Promise<boolean> {
    if (!(await put(key)) && (await store.get(prefix + key)) !== owner) return false;
    if (held.get(key) === lease) await renew(key, lease);
    return true;
  }
}

/** Created on first access: most leases end without one. */
function lostSignalOf(lease: Held): AbortSignal {
  if (!lease.lost) {
    lease.lost = new AbortController();
    if (lease.isLost) lease.lost.abort(lapsed());
  }
  return lease.lost.signal;
}

const lapsed = (): Problem => new Problem("unavailable", "The lease has lapsed: another process may be at work");

/** A lease of this process. */
interface Held {
  /** When the last successful renewal started, by the monotonic clock. */
  renewedAt: number;
  /** Created on first access. */
  lost?: AbortController;
  isLost: boolean;
  /** Whether it was not renewed in time. */
  isLapsed: boolean;
}
