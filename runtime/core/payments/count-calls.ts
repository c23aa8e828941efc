import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { Tallies } from "../books/tallies.ts";
import { type CallCourse, CUT_OFF, type InCall, type Invocation, MAY_BE_CHARGED, type Outcome } from "../call.ts";
import type { SaleAnswers } from "../notes/answers.ts";
import type { Refusals } from "../notes/refusals.ts";
import type { Service } from "../service.ts";
import type { Challenge } from "../x402/challenge.ts";

/** What records how calls end. */
export interface CallCounters {
  readonly tallies: Pick<Tallies, "count" | "end">;
  readonly refusals: Pick<Refusals, "note">;
  readonly answers: Pick<SaleAnswers, "note">;
  /** Counts cache reads. */
  readonly inCall: InCall;
}

export interface CountedDeps extends CallCounters {
  readonly clock: Clock;
}

type Call = (service: Service, invocation: Invocation) => Promise<Outcome>;

/** Counts how calls end, and gives each call a course on which its steps are noted, unless it has one. Does not change the calls. */
export function countCalls(invoke: Call, { tallies, refusals, answers, inCall, clock }: CountedDeps): Call {
  return async (service, invocation) => {
    if (service.isStatus) return invoke(service, invocation); // One call that is a job may be polled a hundred times.
    const course: CallCourse = invocation.course ?? { begun: clock.now() };
    const isPaid = invocation.payment !== undefined && service.manifest.price !== undefined;
    const { door = "rest" } = invocation;
    const { id } = service.manifest;
    const note = (what: string): void => tallies.count({ service: id, door, rail: course.rail ?? "", what });
    const noteEnd = (whats: readonly string[], ms?: number): void =>
      tallies.end({ service: id, door, rail: course.rail ?? "" }, isPaid ? ["attempt", ...whats] : whats, ms);
    const noteFailure = (what: string): void => {
      noteEnd([what]);
      const { payer } = course;
      if (isPaid && payer && /^(?:refused|failed):/.test(what)) refusals.note(payer, what);
    };
    try {
      // Only the work runs in the counting scope: every async step inside a scope costs more.
      const around = <T>(work: () => Promise<T>): Promise<T> => inCall(note, work);
      const outcome = await invoke(service, { ...invocation, course, around });
      if (outcome.kind !== "result") {
        noteFailure(toRefusal(outcome.challenge, invocation));
        return outcome;
      }
      const isGone = invocation.signal.aborted;
      if (outcome.isRepeat) noteEnd(["replay"]);
      else noteEnd(toResult(isPaid, isGone), clock.now() - course.begun);
      if (isPaid) noteAnswer(course, isGone);
      return outcome;
    } catch (error) {
      noteFailure(toFailure(error, invocation, course));
      throw error;
    }
  };

  function noteAnswer({ sale, begun, isResumed }: CallCourse, isGone: boolean): void {
    if (sale === undefined) return;
    if (!isResumed) answers.note(sale, begun, isGone ? "gone" : "sent");
    else if (!isGone) answers.note(sale, begun, "later");
  }
}

function toFailure(error: unknown, { signal }: Invocation, { isResumed }: CallCourse): string {
  const { code, options } = Problem.from(error);
  if (code === "payment-in-progress") return "early";
  const isPaidBack = code === "paid-not-delivered" && options.members !== undefined;
  if (isPaidBack && isResumed) return "replay"; // Its failure was counted when the work failed.
  if (!signal.aborted || MAY_BE_CHARGED.includes(code)) return `failed:${code}`;
  return signal.reason === CUT_OFF ? "failed:unavailable" : "left";
}

function toRefusal({ required }: Challenge, { payment }: Invocation): string {
  if (payment === undefined) return "challenge";
  const [reason = ""] = required.error.split(":");
  return `refused:${reason}`;
}

function toResult(isPaid: boolean, isGone: boolean): readonly string[] {
  if (!isPaid) return ["free"];
  return isGone ? ["result", "gone"] : ["result"];
}
