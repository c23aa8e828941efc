import { Problem } from "../../api/problem.ts";
import { nullIfDamaged } from "../../core/damage.ts";
import { isObject } from "../../core/json.ts";
import type { Store } from "../../core/store.ts";
import type { Config } from "../config/config.ts";

export interface ClaimOptions {
  /** The site's name. It stays the same when the set changes. */
  readonly shop: string;
  /** Where the store is; named in the refusal. */
  readonly config: Pick<Config, "dataDir" | "redisUrl">;
  /** Whether the store may be claimed although it has another shop's name, since the shop was renamed. */
  readonly isRenamed: boolean;
}

const KEY = "shop";

/**
 * Claims a store for one shop, so that payments, jobs and refunds of two shops never mix. All processes of a shop may
 * share the store, even while their sets differ. @throws Problem `bad-request` when the store belongs to another shop;
 * `unavailable`, also when its record is damaged.
 */
export async function claimStore(store: Store, { shop, config, isRenamed }: ClaimOptions): Promise<void> {
  if (isRenamed) return store.set(KEY, { name: shop });
  if (await store.putIfAbsent(KEY, { name: shop })) return;
  const owner = await store.get<unknown>(KEY).catch(nullIfDamaged);
  if (owner === undefined || (isObject(owner) && owner.name === shop)) return;
  const [place, variable] =
    config.redisUrl === undefined ? [config.dataDir, "PAYPHONE_DATA_DIR"] : ["This Redis", "REDIS_URL"];
  if (!isObject(owner) || typeof owner.name !== "string")
    throw new Problem(
      "unavailable",
      `${place} does not say whose it is, since its record "${KEY}" is damaged: if it is that of "${shop}", start it once with --renamed`,
    );
  throw new Problem(
    "bad-request",
    `${place} belongs to the shop "${owner.name}", and this one is "${shop}": set ${variable} to a place of its own, ` +
      `or start it once with --renamed if the shop has a new name`,
  );
}
