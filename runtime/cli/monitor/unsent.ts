import type { SiteManifest } from "../../core/set/manifest.ts";
import type { Store } from "../../core/store.ts";
import { restAfter } from "../../core/time/sweeper.ts";
import { createDeliveries, type Delivery } from "../../core/webhooks/deliveries.ts";
import type { Trouble } from "../../surfaces/pages/seller/view.ts";

/** Finds the receivers that do not accept a message, and the messages that were given up. */
export type FindUnsent = (receivers: SiteManifest["webhooks"], now: number) => Promise<readonly Trouble[]>;

/** What waits for less time is no trouble: it is sent again by itself. */
const LATE_MS = 60 * 60_000;
const LIST = "payphone webhooks";

/** In between, the last answer is repeated: with Redis, a list reads the names of all keys. */
export function createUnsentSearch(store: Store): FindUnsent {
  const deliveries = createDeliveries(store);
  let found: readonly Trouble[] = [];
  let until = 0;

  return async (receivers = [], now) => {
    if (receivers.length === 0) return [];
    const began = performance.now();
    if (began < until) return found;
    const late: Trouble[] = [];
    for (const { id } of receivers) {
      const one = await findLate(id, now);
      if (one) late.push({ what: `A message to ${id} has waited for more than an hour: ${one.reason}`, mend: LIST });
    }
    let lost = 0;
    for await (const { endpoint } of deliveries.givenUp()) if (receivers.some(({ id }) => id === endpoint)) lost += 1;
    const what = `${lost} ${lost === 1 ? "message to a receiver was" : "messages to receivers were"} given up after a day`;
    found = lost > 0 ? [...late, { what, mend: `${LIST} resend --given-up` }] : late;
    until = performance.now() + restAfter(began);
    return found;
  };

  async function findLate(receiver: string, now: number): Promise<Delivery | undefined> {
    for await (const key of deliveries.list(receiver)) {
      const delivery = await deliveries.read(key);
      if (delivery && delivery.failures > 0 && now - delivery.since > LATE_MS) return delivery;
    }
    return undefined;
  }
}
