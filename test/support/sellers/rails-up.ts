import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { eventually } from "../eventually.ts";

/**
 * Waits until all rails of a seller can be paid. On a slow machine, the seller listens before all rails have answered.
 */
export const untilRailsUp = (url: string): Promise<ReadyReport> =>
  eventually(
    async () => (await (await fetch(`${url}/ready`)).json()) as ReadyReport,
    ({ rails }) => rails.every(({ state }) => state === "up"),
    50,
  );
