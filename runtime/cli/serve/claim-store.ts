import { Problem } from "../../api/problem.ts";
import type { Store } from "../../core/store.ts";
import type { Config } from "../config/config.ts";

export interface ClaimOptions {
  /** The site's name: a shop keeps it, whatever it sells. */
  readonly shop: string;
  /** Where the store is, for the refusal. */
  readonly config: Pick<Config, "dataDir" | "redisUrl">;
  /** Whether the store belongs to this shop under an earlier name. */
  readonly isRenamed: boolean;
}

const KEY = "shop";

/**
 * Claims a store for one shop, whose processes may share it while their sets differ. Payments, jobs and refunds of two
 * shops must not mix. @throws Problem `bad-request` when the store belongs to another shop; `unavailable`.
 */
export async function claimStore(store: Store, { shop, config, isRenamed }: ClaimOptions): Promise<void> {
  if (isRenamed) return store.set(KEY, { name: shop });
  if (await store.putIfAbsent(KEY, { name: shop })) return;
  const owner = await store.get<{ readonly name: string }>(KEY);
  if (owner === undefined || owner.name === shop) return;
  const [place, variable] =
    config.redisUrl === undefined ? [config.dataDir, "PAYPHONE_DATA_DIR"] : ["This Redis", "REDIS_URL"];
  throw new Problem(
    "bad-request",
    `${place} belongs to the shop "${owner.name}", and this one is "${shop}": set ${variable} to a place of its own, ` +
      `or start it once with --renamed if the shop has a new name`,
  );
}
