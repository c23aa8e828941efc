import type { Config } from "../config/config.ts";
import { userName } from "../user.ts";
import { askProcess, requireProcesses } from "./ask.ts";

/**
 * Makes every process on this machine trust a facilitator again; processes on other machines read that from the store.
 * @returns on how many networks it was not trusted. @throws Problem `bad-request` for a facilitator that no rail has,
 *   `unavailable`.
 */
export async function trustAgain({ dataDir }: Pick<Config, "dataDir">, facilitator: string): Promise<number> {
  const order = { by: userName(), facilitator };
  const sockets = await requireProcesses(dataDir);
  const answers = await Promise.all(
    sockets.map((socket) => askProcess<{ readonly pardoned: number }>(socket, "POST", "/trust", order)),
  );
  return Math.max(...answers.map(({ pardoned }) => pardoned));
}

/** What `payphone trust` prints. */
export const toTrustText = (facilitator: string, networks: number): string =>
  networks === 0
    ? `nothing to do: ${facilitator} is trusted`
    : `${facilitator} is trusted again on ${networks} ${networks === 1 ? "network" : "networks"}`;
