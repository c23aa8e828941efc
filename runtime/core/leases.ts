import type { Store } from "./store.ts";

/** The exclusive right to work on one key. */
export interface Lease {
  release(): Promise<void>;
}

/** Leases of keys: each has one holder at a time, across all processes that share the store. */
export interface Leases {
  /** A lease; undefined while the key is held. */
  claim(key: string): Promise<Lease | undefined>;
  /** Whether this process holds the key, by its own clock. */
  holds(key: string): boolean;
  /** Stops renewing: leases that are still held expire. */
  close(): void;
}

export interface LeasesOptions {
  readonly store: Store;
  /** The prefix of these keys in the store. */
  readonly prefix: string;
  readonly onError: (error: unknown) => void;
  /** Called for a held lease that may have expired: the process was stalled, or could not reach the store. */
  readonly onLapse?: (key: string) => void;
  /** How long a lease outlives its process; 2 seconds by default. */
  readonly leaseMs?: number | undefined;
}

/** Leases that are renewed while the process lives. */
export function createLeases({ store, prefix, onError, onLapse, leaseMs = 2000 }: LeasesOptions): Leases {
  const held = new Map<string, Held>();
  const timer = setInterval(renewAll, leaseMs / 5);
  timer.unref();

  const isOurs = (lease: Held | undefined): boolean =>
    lease !== undefined && performance.now() - lease.renewedAt < leaseMs;

  return {
    async claim(key) {
      const lease = { renewedAt: performance.now() };
      if (!(await store.putIfAbsent(prefix + key, 1, leaseMs, "lazy")) || !isOurs(lease)) return undefined;
      held.set(key, lease);
      return {
        async release() {
          if (held.get(key) !== lease) return;
          held.delete(key);
          if (isOurs(lease)) await store.delete(prefix + key, "lazy");
        },
      };
    },
    holds: (key) => isOurs(held.get(key)),
    close: () => clearInterval(timer),
  };

  /** Drops leases that were not renewed in time: another process may hold them now. */
  function renewAll(): void {
    for (const [key, lease] of held) {
      if (isOurs(lease)) renew(key, lease).catch(onError);
      else if (held.delete(key)) onLapse?.(key);
    }
  }

  async function renew(key: string, lease: Held): Promise<void> {
    const renewedAt = performance.now();
    await store.set(prefix + key, 1, leaseMs, "lazy");
    lease.renewedAt = renewedAt;
  }
}

/** A lease of this process. */
interface Held {
  /** When the last successful renewal was begun, by the monotonic clock. */
  renewedAt: number;
}
