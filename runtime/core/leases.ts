import type { Store } from "./store.ts";

/** The right to work on something, held by one piece of work in one process. */
export interface Lease {
  release(): Promise<void>;
}

/** Gives each key to one holder at a time, across all processes that share the store. */
export interface Leases {
  /** A lease, or undefined while somebody holds it. */
  claim(key: string): Promise<Lease | undefined>;
  /** Whether this process holds it, as far as it can know. */
  holds(key: string): boolean;
  /** Stops renewing. Leases that are still held lapse. */
  close(): void;
}

export interface LeasesOptions {
  readonly store: Store;
  /** Keeps these keys apart from others of the store. */
  readonly prefix: string;
  readonly onError: (error: unknown) => void;
  /** Told of a lease that was not released and may have lapsed: this process was stalled, or could not reach the store. */
  readonly onLapse?: (key: string) => void;
  /** How long after its process died a lease lapses; 2 seconds unless said otherwise. */
  readonly leaseMs?: number | undefined;
}

/** Leases that are renewed while their process lives. */
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

  /** A process that was stalled for longer than a lease lives has lost it, perhaps to another one. */
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
  /** By the monotonic clock: when the last renewal that succeeded was asked for. */
  renewedAt: number;
}
