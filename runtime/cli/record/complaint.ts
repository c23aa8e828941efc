import { Problem } from "../../api/problem.ts";

/** Why a service's work failed, in words for the shop's owner; undefined when it succeeded. */
export async function complaintOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const problem = Problem.from(error);
    // The message of `internal` is for buyers, and says nothing.
    const { message, cause } = problem.code === "internal" && problem.cause instanceof Error ? problem.cause : problem;
    return cause instanceof Error ? `${message} (${cause.message})` : message;
  }
}
