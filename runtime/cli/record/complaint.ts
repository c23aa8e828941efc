import { Problem } from "../../api/problem.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import { toThrownAt } from "../set/plugins/faults.ts";

/** Why a service's work failed, in words for the shop's owner; undefined when it succeeded. */
export async function complaintOf(work: () => unknown): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    const problem = Problem.from(error);
    const { issues } = problem.options;
    if (issues) return `${problem.message}: ${toIssueText(issues)}`;
    // The message of `internal` is for buyers, and says nothing.
    const isOwn = problem.code === "internal" && problem.cause instanceof Error;
    const { message, cause, stack } = isOwn ? (problem.cause as Error) : problem;
    const why = cause instanceof Error ? `${message} (${cause.message})` : message;
    return isOwn ? why + toThrownAt(stack) : why;
  }
}
