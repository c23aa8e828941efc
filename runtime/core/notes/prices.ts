import { unlessDamaged } from "../damage.ts";
import type { Store } from "../store.ts";

/** A price that is valid from `at` on. */
export interface PriceChange {
  /** Unix milliseconds. */
  readonly at: number;
  /** US dollars, decimal text; null when the service was free or not sold. */
  readonly price: string | null;
}

type Priced = { readonly id: string; readonly price?: string };
type Sheet = Readonly<Record<string, readonly PriceChange[]>>;

const KEY = "prices";
const MOST = 100;

/** Records the current prices where they differ from the recorded ones. @throws Problem `unavailable`. */
export async function notePrices(
  store: Pick<Store, "get" | "set">,
  services: readonly Priced[],
  now: number,
): Promise<void> {
  const known = await readSheet(store);
  const asked = new Map(services.map(({ id, price }) => [id, price ?? null]));
  const changed = [...new Set([...known.keys(), ...asked.keys()])].filter(
    (id) => (known.get(id)?.at(-1)?.price ?? undefined) !== (asked.get(id) ?? undefined) || !known.has(id),
  );
  if (changed.length === 0) return;
  for (const id of changed) {
    const change: PriceChange = { at: now, price: asked.get(id) ?? null };
    known.set(id, [...(known.get(id) ?? []), change].slice(-MOST));
  }
  await store.set(KEY, Object.fromEntries(known));
}

/** The prices of a service, oldest first; empty for one that was never offered. @throws Problem `unavailable`. */
export const readPrices = async (store: Pick<Store, "get">, service: string): Promise<readonly PriceChange[]> =>
  (await readSheet(store)).get(service) ?? [];

/** A map, since a service may be called `constructor`. */
const readSheet = async (store: Pick<Store, "get">): Promise<Map<string, readonly PriceChange[]>> =>
  new Map(Object.entries((await store.get<Sheet>(KEY).catch(unlessDamaged)) ?? {}));
