import type { RpcParams } from "../rpc/json-rpc.ts";
import { TASK_STATES } from "./dialects.ts";
import { type A2aRefusal, refuseParams } from "./errors.ts";
import { readHistoryLength } from "./messages.ts";
import type { TaskState } from "./task-book.ts";

/** The filters of `ListTasks`. A state that no task here ever has matches nothing. */
export interface ListFilters {
  readonly contextId?: string;
  readonly state?: TaskState | "other";
  /** Unix milliseconds: only tasks that were updated at or after this time. */
  readonly since?: number;
}

/** The params of `ListTasks` (A2A 1.0, section 3.1.4). */
export interface ListParams {
  readonly filters: ListFilters;
  readonly pageSize: number;
  readonly pageToken: string | undefined;
  /** How many of the newest messages of each task's history to show. */
  readonly historyLength: number;
  readonly includeArtifacts: boolean;
}

const LARGEST_PAGE = 100;
const USUAL_PAGE = 50;
const LONGEST_TEXT = 128;
/** RFC 3339, section 5.6, as JSON writes a Timestamp of Protocol Buffers. */
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Reads the params of `ListTasks`. A field that is null counts as not given, and so does one with its type's default value,
 * except for a `pageSize` of 0.
 */
export function readListParams(params: RpcParams): ListParams | A2aRefusal {
  const { contextId, status, pageSize, pageToken, statusTimestampAfter, includeArtifacts } = params;
  for (const [name, text] of Object.entries({ contextId, pageToken }))
    if (text != null && !isText(text))
      return refuseParams(`${name} must be a text of at most ${LONGEST_TEXT} characters`);
  const size = pageSize ?? USUAL_PAGE;
  if (!Number.isSafeInteger(size) || (size as number) < 1 || (size as number) > LARGEST_PAGE)
    return refuseParams(`pageSize must be a whole number from 1 to ${LARGEST_PAGE}`);
  const state = readState(status ?? UNSPECIFIED);
  if (state === undefined) return refuseParams("status must be a state of A2A 1.0, such as TASK_STATE_COMPLETED");
  const since = statusTimestampAfter == null ? 0 : readTime(statusTimestampAfter);
  if (Number.isNaN(since)) return refuseParams("statusTimestampAfter must be a time such as 2026-11-22T08:00:00Z");
  if (includeArtifacts != null && typeof includeArtifacts !== "boolean")
    return refuseParams("includeArtifacts must be true or false");
  const historyLength = readHistoryLength(params);
  if (typeof historyLength === "object") return historyLength;
  return {
    filters: {
      ...(contextId ? { contextId: contextId as string } : {}),
      ...(state !== "any" && { state }),
      ...(since > 0 && { since }),
    },
    pageSize: size as number,
    pageToken: (pageToken as string | null | undefined) || undefined,
    historyLength: historyLength ?? 0,
    includeArtifacts: includeArtifacts === true,
  };
}

const UNSPECIFIED = "TASK_STATE_UNSPECIFIED";
/** States of A2A 1.0 (section 4.1.3) that no task here ever has. */
const NEVER_HERE = ["TASK_STATE_SUBMITTED", "TASK_STATE_AUTH_REQUIRED"];

function readState(status: unknown): ListFilters["state"] | "any" | undefined {
  if (status === UNSPECIFIED) return "any";
  if (NEVER_HERE.includes(status as string)) return "other";
  return typeof status === "string" ? TASK_STATES.get(status) : undefined;
}

const readTime = (text: unknown): number =>
  typeof text === "string" && TIMESTAMP.test(text) ? Date.parse(text) : Number.NaN;

const isText = (text: unknown): boolean =>
  typeof text === "string" && text.length <= LONGEST_TEXT && text.isWellFormed();
