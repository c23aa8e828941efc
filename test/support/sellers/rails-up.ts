import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { eventually } from "../eventually.ts";

/** Waits until a seller can be paid on all its rails: on a slow machine it listens before they have all answered. */
export const untilRailsUp = (url: string): Promise<ReadyReport> =>
  eventually(
    async () => (await (await fetch(`${url}/ready`)).json()) as ReadyReport,
    ({ rails }) => rails.every(({ state }) => state === "up"),
    50,
  );
