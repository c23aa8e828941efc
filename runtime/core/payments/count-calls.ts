import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { Tallies } from "../books/tallies.ts";
import type { CallCourse, Invocation, Outcome } from "../call.ts";
import type { Service } from "../service.ts";

export interface CountedDeps {
  readonly services: readonly Service[];
  readonly tallies: Pick<Tallies, "count" | "time">;
  readonly clock: Clock;
}

type Call = (service: Service, invocation: Invocation) => Promise<Outcome>;

/** Counts how calls end, and gives each the course on which its steps are noted. Changes nothing about them. */
export function countCalls(invoke: Call, { services, tallies, clock }: CountedDeps): Call {
  const known = new Set(services);

  return async (service, invocation) => {
    if (!known.has(service)) return invoke(service, invocation); // A job is polled.
    const course: CallCourse = { begun: clock.now() };
    const note = (what: string): void => {
      const { door = "rest" } = invocation;
      tallies.count({ service: service.manifest.id, door, rail: course.rail ?? "", what });
    };
    try {
      const outcome = await invoke(service, { ...invocation, course });
      if (invocation.payment !== undefined && service.manifest.price !== undefined) note("attempt");
      note(toWhat(outcome, invocation));
      if (outcome.kind === "result" && !outcome.isRepeat) {
        const { door = "rest" } = invocation;
        tallies.time({ service: service.manifest.id, door, rail: course.rail ?? "" }, clock.now() - course.begun);
      }
      return outcome;
    } catch (error) {
      if (invocation.payment !== undefined && service.manifest.price !== undefined) note("attempt");
      note(`failed:${Problem.from(error).code}`);
      throw error;
    }
  };
}

function toWhat(outcome: Outcome, { payment }: Invocation): string {
  if (outcome.kind === "result") return outcome.isRepeat ? "replay" : "result";
  if (payment === undefined) return "challenge";
  const [reason = ""] = outcome.challenge.required.error.split(":");
  return `refused:${reason}`;
}
