import type { ProblemCode } from "../api/problem.ts";

/** What the command tells the shell; `--help` prints this table. */
export const EXIT = {
  ok: 0,
  /** It was tried and did not succeed. */
  failed: 1,
  /** The command line or the environment is wrong: nothing was tried. */
  usage: 2,
  /** `call` would not pay: nothing was paid. */
  unpaid: 3,
  /** `call` has sent a payment and holds no result yet: `--resume` asks again with the same payment. */
  unknown: 4,
} as const;

const BY_CODE: Partial<Record<ProblemCode, number>> = {
  "bad-request": EXIT.usage,
  "payment-required": EXIT.unpaid,
  "settlement-unknown": EXIT.unknown,
};

/** The exit code of a command that ended with this problem. */
export const exitCodeOf = (code: ProblemCode): number => BY_CODE[code] ?? EXIT.failed;
