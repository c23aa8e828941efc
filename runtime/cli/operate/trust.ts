import type { Config } from "../config/config.ts";
import { userName } from "../user.ts";
import { askAll } from "./ask.ts";

/** On how many networks a facilitator was not trusted, and a line for each process that gave no answer. */
export interface Trusted {
  readonly networks: number;
  readonly silent: readonly string[];
}

/**
 * Makes every process on this machine trust a facilitator again; all others read that from the store. @throws Problem
 *   `bad-request` for a facilitator that no rail has, `unavailable`.
 */
export async function trustAgain({ dataDir }: Pick<Config, "dataDir">, facilitator: string): Promise<Trusted> {
  const order = { by: userName(), facilitator };
  const { answers, silent } = await askAll<{ readonly pardoned: number }>(dataDir, "POST", "/trust", order);
  return { networks: Math.max(...answers.map(({ pardoned }) => pardoned)), silent };
}

/** What `payphone trust` prints. */
export const toTrustText = (facilitator: string, networks: number): string =>
  networks === 0
    ? `nothing to do: ${facilitator} is trusted`
    : `${facilitator} is trusted again on ${networks} ${networks === 1 ? "network" : "networks"}`;
