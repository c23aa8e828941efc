import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { Tallies, TallyNames } from "../books/tallies.ts";
import { type CallCourse, type InCall, type Invocation, MAY_BE_CHARGED, type Outcome } from "../call.ts";
import type { SaleAnswers } from "../notes/answers.ts";
import type { Refusals } from "../notes/refusals.ts";
import type { Service } from "../service.ts";

/** What records how calls end. */
export interface CallCounters {
  readonly tallies: Pick<Tallies, "count" | "time">;
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
    const names = (): Omit<TallyNames, "what"> => {
      return { service: service.manifest.id, door, rail: course.rail ?? "" };
    };
    const note = (what: string): void => tallies.count({ ...names(), what });
    const noteEnd = (what: string): void => {
      if (isPaid) note("attempt");
      note(what);
      const { payer } = course;
      if (isPaid && payer && /^(?:refused|failed):/.test(what)) refusals.note(payer, what);
    };
    try {
      // Only the work runs in the counting scope: every async step inside a scope costs more.
      const around = <T>(work: () => Promise<T>): Promise<T> => inCall(note, work);
      const outcome = await invoke(service, { ...invocation, course, around });
      noteEnd(toWhat(outcome, invocation, isPaid));
      if (outcome.kind !== "result") return outcome;
      if (!outcome.isRepeat) tallies.time(names(), clock.now() - course.begun);
      const isGone = invocation.signal.aborted;
      if (isPaid && isGone && !outcome.isRepeat) note("gone");
      if (isPaid) noteAnswer(course, isGone);
      return outcome;
    } catch (error) {
      noteEnd(toFailure(error, invocation, course));
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
  return signal.aborted && !MAY_BE_CHARGED.includes(code) ? "left" : `failed:${code}`;
}

function toWhat(outcome: Outcome, { payment }: Invocation, isPaid: boolean): string {
  if (outcome.kind === "result") return outcome.isRepeat ? "replay" : isPaid ? "result" : "free";
  if (payment === undefined) return "challenge";
  const [reason = ""] = outcome.challenge.required.error.split(":");
  return `refused:${reason}`;
}
