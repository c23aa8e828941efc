import type { ProblemCode } from "../api/problem.ts";

/** The exit codes of every command; `--help` prints this table. */
export const EXIT = {
  ok: 0,
  /** The work began but did not succeed. */
  failed: 1,
  /** The command line or the environment is wrong; nothing was tried. */
  usage: 2,
  /** `call` refused to pay; nothing was paid. */
  unpaid: 3,
  /** `call` sent a payment and has no result yet: `--resume` sends it again. Or the job that it follows outlasts `--wait`. */
  unknown: 4,
  /** `call`: the input does not fit the service's schema; nothing was paid. */
  input: 5,
  /** `verify`: no signature is wrong, and some cannot be checked, by this version or now, or an offer beside them has none. */
  unchecked: 6,
} as const;

const BY_CODE: Partial<Record<ProblemCode, number>> = {
  "bad-request": EXIT.usage,
  "invalid-input": EXIT.input,
  "payment-required": EXIT.unpaid,
  "settlement-unknown": EXIT.unknown,
};

/** The exit code of a command that ended with this problem. */
export const exitCodeOf = (code: ProblemCode): number => BY_CODE[code] ?? EXIT.failed;
