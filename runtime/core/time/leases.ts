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

  return {
    async claim(key) {
      if (isOurs(held.get(key))) return undefined; // The store's clock may have been set forward.
      const lease: Held = { renewedAt: performance.now(), isLapsed: false, isLost: false };
      const isFree = await store.putIfAbsent(prefix + key, owner, leaseMs, "lazy");
      if (!isFree || !isOurs(lease)) return undefined;
      const former = held.get(key);
      if (former) lose(key, former); // It has lapsed, and the next round would find another lease in its place.
      held.set(key, lease);
      return {
        lost: () => lostSignalOf(lease),
        async release() {
          if (held.get(key) !== lease) return;
          held.delete(key);
          if (isOurs(lease)) await store.drop(prefix + key, owner, "lazy"); // It may arrive late, and find the next one's.
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

  /** False when another process has the key now; then the lease is lost. */
  async function renew(key: string, lease: Held): Promise<boolean> {
    const renewedAt = performance.now();
    const isKept = await store.renew(prefix + key, owner, leaseMs, "lazy");
    if (isKept) lease.renewedAt = renewedAt;
    else lose(key, lease);
    return isKept;
  }

  async function lapse(key: string, lease: Held): Promise<void> {
    lease.isLapsed = true;
    const isBack = reclaims && (await renew(key, lease).catch(onError)) === true;
    if (isBack && !held.has(key)) await store.drop(prefix + key, owner, "lazy").catch(onError); // Released meanwhile.
    lease.isLapsed = false;
    if (!isBack) lose(key, lease);
  }

  function lose(key: string, lease: Held): void {
    if (held.get(key) !== lease) return;
    held.delete(key);
    lease.isLost = true;
    lease.lost?.abort(lapsed());
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
