import { isObject } from "../../core/json.ts";
import type { MediaOutput } from "../../core/proxy/media.ts";
import type { A2aDialect } from "./methods.ts";
import { X402_KEYS } from "./payment.ts";
import type { Task, TaskMessage, TaskState } from "./task-book.ts";

/** A task to be shown, with the challenge while it waits for a payment. */
export interface ShownTask {
  readonly task: Task;
  readonly required?: object | undefined;
  /** How many of the newest messages of its history to show; undefined means all. */
  readonly historyLength?: number | undefined;
}

/** How one dialect spells roles, kinds and parts. */
interface Spelling {
  readonly state: (state: TaskState) => string;
  readonly role: { readonly agent: string; readonly user: string };
  readonly kind: (kind: "task" | "message") => object;
  readonly text: (text: string) => object;
  /** 0.3 takes objects only; other data becomes text. */
  readonly data: (data: unknown) => object;
  readonly file: (file: MediaOutput) => object;
}

const SPELLINGS: Readonly<Record<A2aDialect, Spelling>> = {
  "0.3": {
    state: (state) => state,
    role: { agent: "agent", user: "user" },
    kind: (kind) => ({ kind }),
    text: (text) => ({ kind: "text", text }),
    data: (data) => (isObject(data) ? { kind: "data", data } : { kind: "text", text: JSON.stringify(data) }),
    file: ({ media, data }) => ({ kind: "file", file: { mimeType: media, bytes: data } }),
  },
  "1.0": {
    state: (state) => `TASK_STATE_${state.replace("-", "_").toUpperCase()}`,
    role: { agent: "ROLE_AGENT", user: "ROLE_USER" },
    kind: () => ({}),
    text: (text) => ({ text }),
    data: (data) => ({ data, mediaType: "application/json" }),
    file: ({ media, data }) => ({ raw: data, mediaType: media }),
  },
};

const STATES: readonly TaskState[] = ["working", "input-required", "completed", "canceled", "failed", "rejected"];

/** The states that occur here, by their names in A2A 1.0. */
export const TASK_STATES: ReadonlyMap<string, TaskState> = new Map(
  STATES.map((state) => [SPELLINGS["1.0"].state(state), state]),
);

/** The task that a standard method answers. */
export function toResult(shown: ShownTask, dialect: A2aDialect, wrapped: boolean): object {
  const task = toTask(shown, SPELLINGS[dialect]);
  return wrapped ? { task } : task;
}

/**
 * A task in a list (1.0, section 3.1.4): without its challenge, and without artifacts unless the request asks for them.
 */
export const toListedTask = (
  task: Task,
  { historyLength, includeArtifacts }: { readonly historyLength: number; readonly includeArtifacts: boolean },
): object => toTask({ task, historyLength }, SPELLINGS["1.0"], includeArtifacts);

/** A file, with its age where it is from a cache. */
const toFilePart = (file: MediaOutput, spell: Spelling): object => ({
  ...spell.file(file),
  ...(file.age_seconds !== undefined && { metadata: { age_seconds: file.age_seconds } }),
});

function toTask({ task, required, historyLength }: ShownTask, spell: Spelling, withArtifacts = true): object {
  const { id, contextId, skill, state, text, job, problem, updatedAt } = task;
  const metadata = toMetadata(task, required);
  const message = {
    ...spell.kind("message"),
    messageId: `${id}.${updatedAt}`,
    taskId: id,
    contextId,
    role: spell.role.agent,
    parts: [spell.text(text), ...(problem ? [spell.data(problem)] : [])],
    ...(metadata && { metadata }),
  };
  const part = task.isFile ? toFilePart(task.output as MediaOutput, spell) : spell.data(task.output); // The service's manifest says which.
  const artifact = { artifactId: `${id}.result`, name: skill, parts: [part] };
  return {
    ...spell.kind("task"),
    id,
    contextId,
    status: { state: spell.state(state), timestamp: new Date(updatedAt).toISOString(), message },
    ...toHistory(task, spell, historyLength),
    ...(withArtifacts && state === "completed" && { artifacts: [artifact] }),
    ...(job && { metadata: job }),
  };
}

/** The client's messages; a length of 0 asks for none (1.0, section 3.2.4). */
function toHistory({ id, contextId, history = [] }: Task, spell: Spelling, length = history.length): object {
  if (history.length === 0 || length === 0) return {};
  const toPart = ({ text, data }: TaskMessage["parts"][number]): object =>
    typeof text === "string" ? spell.text(text) : spell.data(data);
  const messages = history.slice(-length).map(({ messageId, parts }) => ({
    ...spell.kind("message"),
    messageId,
    taskId: id,
    contextId,
    role: spell.role.user,
    parts: parts.map(toPart),
  }));
  return { history: messages };
}

function toMetadata({ payment }: Task, required: object | undefined): object | undefined {
  if (!payment) return undefined;
  const { status, error, receipts } = payment;
  const isOpen = status === "payment-required" || status === "payment-submitted";
  return {
    [X402_KEYS.status]: status,
    ...(required && { [X402_KEYS.required]: required }),
    ...(error !== undefined && { [X402_KEYS.error]: error }),
    ...((receipts.length > 0 || !isOpen) && { [X402_KEYS.receipts]: receipts }),
  };
}
