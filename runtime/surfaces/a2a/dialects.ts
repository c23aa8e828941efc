import { isObject } from "../../core/json.ts";
import type { PaymentRequired } from "../../core/x402/x402.ts";
import type { A2aDialect, Verb } from "./methods.ts";
import { X402_KEYS } from "./payment.ts";
import type { Task, TaskState } from "./task-book.ts";

/** A task to be shown, with the challenge while it waits for a payment. */
export interface ShownTask {
  readonly task: Task;
  readonly required?: PaymentRequired | undefined;
}

/** The spellings of one dialect. */
interface Spelling {
  readonly state: (state: TaskState) => string;
  readonly role: string;
  readonly kind: (kind: "task" | "message") => object;
  readonly text: (text: string) => object;
  /** 0.3 takes objects only; other data becomes text. */
  readonly data: (data: unknown) => object;
}

const SPELLINGS: Readonly<Record<A2aDialect, Spelling>> = {
  "0.3": {
    state: (state) => state,
    role: "agent",
    kind: (kind) => ({ kind }),
    text: (text) => ({ kind: "text", text }),
    data: (data) => (isObject(data) ? { kind: "data", data } : { kind: "text", text: JSON.stringify(data) }),
  },
  "1.0": {
    state: (state) => `TASK_STATE_${state.replace("-", "_").toUpperCase()}`,
    role: "ROLE_AGENT",
    kind: () => ({}),
    text: (text) => ({ text }),
    data: (data) => ({ data, mediaType: "application/json" }),
  },
};

/** The result of a standard method. */
export function toResult(shown: ShownTask, dialect: A2aDialect, verb: Verb): object {
  const task = toTask(shown, SPELLINGS[dialect]);
  return dialect === "1.0" && verb === "send" ? { task } : task;
}

function toTask({ task, required }: ShownTask, spell: Spelling): object {
  const { id, contextId, skill, state, text, job, problem, updatedAt } = task;
  const metadata = toMetadata(task, required);
  const message = {
    ...spell.kind("message"),
    messageId: `${id}.${updatedAt}`,
    taskId: id,
    contextId,
    role: spell.role,
    parts: [spell.text(text), ...(problem ? [spell.data(problem)] : [])],
    ...(metadata && { metadata }),
  };
  const artifact = { artifactId: `${id}.result`, name: skill, parts: [spell.data(task.output)] };
  return {
    ...spell.kind("task"),
    id,
    contextId,
    status: { state: spell.state(state), timestamp: new Date(updatedAt).toISOString(), message },
    ...(state === "completed" && { artifacts: [artifact] }),
    ...(job && { metadata: job }),
  };
}

function toMetadata({ payment }: Task, required: PaymentRequired | undefined): object | undefined {
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
