import { Problem } from "#plugin";

/** Returns the error when it is a source's failure. @throws any other error. */
export function toFailure(error: unknown): Problem {
  if (error instanceof Problem && error.code === "upstream-failed") return error;
  throw error;
}
