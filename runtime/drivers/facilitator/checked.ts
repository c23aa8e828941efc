import { Problem } from "../../api/problem.ts";
import type { Facilitator } from "../../core/x402/x402.ts";

/**
 * Looks for a reason why nothing can be paid: returns a sentence, or undefined. A thrown Problem `unavailable` is such a
 * reason, too; any other error means that the answer is unknown.
 */
export type FindObstacle = (signal: AbortSignal) => Promise<string | undefined>;

/** Less than the time a facilitator has to answer: a silent node must not take the rail down. */
const CHECK_MS = 1500;

/**
 * A facilitator that is up only while no obstacle is found; an unknown answer counts as none. `supported` throws Problem
 * `unavailable` with the obstacle.
 * @param until "sound" when one check without an obstacle is enough, since nothing can change afterwards
 */
export function withCheck(
  facilitator: Facilitator,
  findObstacle: FindObstacle,
  until: "sound" | "closed",
): Facilitator {
  let isSound = false;
  const check = async (): Promise<void> => {
    const obstacle = await findObstacle(AbortSignal.timeout(CHECK_MS));
    if (obstacle !== undefined) throw new Problem("unavailable", obstacle);
    isSound = until === "sound";
  };
  return {
    ...facilitator,
    async supported(signal) {
      const checked = isSound ? undefined : check().catch((error: unknown) => error);
      const kinds = await facilitator.supported(signal);
      const fault = await checked;
      if (fault instanceof Problem && fault.code === "unavailable") throw fault;
      return kinds;
    },
  };
}
