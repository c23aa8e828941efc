import { Problem } from "#plugin";

/** The source's failure that an error is. @throws the error, when it is of another kind. */
export function toFailure(error: unknown): Problem {
  if (error instanceof Problem && error.code === "upstream-failed") return error;
  throw error;
}
