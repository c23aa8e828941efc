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
  const known = (await store.get<Sheet>(KEY)) ?? {};
  const asked = new Map(services.map(({ id, price }) => [id, price ?? null]));
  const changed = [...new Set([...Object.keys(known), ...asked.keys()])].filter(
    (id) => (known[id]?.at(-1)?.price ?? undefined) !== (asked.get(id) ?? undefined) || !known[id],
  );
  if (changed.length === 0) return;
  const added = changed.map((id) => {
    const change: PriceChange = { at: now, price: asked.get(id) ?? null };
    return [id, [...(known[id] ?? []), change].slice(-MOST)] as const;
  });
  await store.set(KEY, { ...known, ...Object.fromEntries(added) });
}

/** The prices of a service, oldest first; empty for one that was never offered. @throws Problem `unavailable`. */
export const readPrices = async (store: Pick<Store, "get">, service: string): Promise<readonly PriceChange[]> =>
  new Map(Object.entries((await store.get<Sheet>(KEY)) ?? {})).get(service) ?? [];
