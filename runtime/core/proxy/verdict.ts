import { Problem, type ProblemCode } from "../../api/problem.ts";

/** The meaning of an upstream's status for the call. */
export interface Verdict {
  readonly code: ProblemCode;
  /** Whether the caller sees the upstream's message. */
  readonly isQuoted: boolean;
}

const THEIRS: Verdict = { code: "unparseable-input", isQuoted: true };
const NOTHING: Verdict = { code: "not-found", isQuoted: true };
/** The operator's credential is missing, wrong or insufficient. */
const OURS: Verdict = { code: "internal", isQuoted: false };
const FAILED: Verdict = { code: "upstream-failed", isQuoted: false };

const VERDICTS: ReadonlyMap<number, Verdict> = new Map([
  ...[400, 409, 412, 413, 414, 422, 431, 451].map((status) => [status, THEIRS] as const),
  ...[404, 410].map((status) => [status, NOTHING] as const),
  ...[401, 402, 403, 407].map((status) => [status, OURS] as const),
]);

/** Whether a call with this status is charged. @param chargeOn every 2xx by default */
export const isCharged = (status: number, chargeOn: readonly number[] | undefined): boolean =>
  chargeOn ? chargeOn.includes(status) : status >= 200 && status < 300;

/** Whether a status means that the operator's credential was refused. */
export const isKeyRefusal = (status: number): boolean => VERDICTS.get(status) === OURS;

/**
 * The Problem of a status that is not charged.
 * @param message the upstream's message @param place where it redirects to, for the log
 */
export function toStatusProblem(title: string, status: number, message: string | undefined, place?: string): Problem {
  const { code, isQuoted } = VERDICTS.get(status) ?? FAILED;
  const said = `${title} answered with status ${status}`;
  if (place) return new Problem(code, said, { cause: new Error(`${said}, and leads to ${place}`) });
  if (code === "internal") return new Problem(code, undefined, { cause: new Error(said) });
  return new Problem(code, isQuoted && message ? `${title}: ${message}` : said);
}
