import { userInfo } from "node:os";
import type { Config } from "../config/config.ts";
import { askProcess, requireProcesses } from "./ask.ts";

/**
 * Lets every process on this machine believe a facilitator again; those on other machines read it from the store.
 * @returns on how many networks it was not believed. @throws Problem `bad-request` for one that no rail has, `unavailable`.
 */
export async function trustAgain({ dataDir }: Pick<Config, "dataDir">, facilitator: string): Promise<number> {
  const order = { by: userInfo().username, facilitator };
  const sockets = await requireProcesses(dataDir);
  const answers = await Promise.all(
    sockets.map((socket) => askProcess<{ readonly pardoned: number }>(socket, "POST", "/trust", order)),
  );
  return Math.max(...answers.map(({ pardoned }) => pardoned));
}

/** What `payphone trust` prints. */
export const toTrustText = (facilitator: string, networks: number): string =>
  networks === 0
    ? `nothing to do: ${facilitator} is believed`
    : `${facilitator} is believed again on ${networks} ${networks === 1 ? "network" : "networks"}`;
