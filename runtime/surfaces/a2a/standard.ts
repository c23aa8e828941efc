import { Problem } from "../../api/problem.ts";
import type { Service } from "../../core/service.ts";
import { checkMessageBytes } from "../rpc/door.ts";
import type { RpcParams } from "../rpc/json-rpc.ts";
import { toResult } from "./dialects.ts";
import { A2A_CODES, type A2aRefusal, isRefusal, refuse, refuseParams } from "./errors.ts";
import { toIntroduction } from "./introduction.ts";
import type { FollowJob } from "./jobs.ts";
import { createListTasks, type ListTasksOptions } from "./list-tasks.ts";
import {
  asksForAnotherCall,
  isSmallTalk,
  readHistoryLength,
  readMessageParams,
  readRequestedCall,
  readTaskId,
  remember,
  type SentMessage,
} from "./messages.ts";
import type { A2aDialect, Verb } from "./methods.ts";
import { isFree } from "./skills.ts";
import type { Task, TaskBook } from "./task-book.ts";
import type { TaskIndex } from "./task-index.ts";
import type { Step, TaskCalls, TaskContext } from "./tasks.ts";

export interface StandardOptions {
  readonly services: ReadonlyMap<string, Service>;
  /** The same, retired ones included. */
  readonly routed: ReadonlyMap<string, Service>;
  readonly book: TaskBook;
  readonly calls: TaskCalls;
  readonly follow: FollowJob;
  readonly index: TaskIndex;
  readonly listing: Pick<ListTasksOptions, "signIns" | "store">;
}

/** The result of a standard method, and the step behind it. */
export interface Answered {
  readonly result: object;
  /** Omitted when the request was not about a task. */
  readonly step?: Step;
}

/** The standard methods of A2A, in either dialect. */
export type Standard = (
  method: { readonly verb: Verb; readonly dialect: A2aDialect },
  params: RpcParams,
  context: TaskContext,
) => Promise<Answered | A2aRefusal>;

const ENDED: readonly Task["state"][] = ["completed", "canceled", "failed", "rejected"];

export function createStandard(options: StandardOptions): Standard {
  const { services, routed, book, calls, follow, index, listing } = options;
  const verbs = { send, get, cancel };
  // A job that cannot be looked up now is listed in its last known state.
  const list = createListTasks({ ...listing, index, find: (id, at) => find(id, at).catch(() => book.read(id)) });
  return async ({ verb, dialect }, params, context) => {
    if (verb === "list") {
      const result = await list(params, context);
      return isRefusal(result) ? result : { result };
    }
    const step = await verbs[verb](params, context);
    if (isRefusal(step)) return step;
    if ("contextId" in step) return { result: await introduce(step, dialect) };
    return { result: toResult(step, dialect, dialect === "1.0" && verb === "send"), step };
  };

  /** Answers with the introduction. A new context id is made when the client sent none, as for a task. */
  async function introduce({ contextId }: Talk, dialect: A2aDialect): Promise<object> {
    const own = contextId === undefined ? crypto.randomUUID() : undefined;
    if (own !== undefined) await index.open(own);
    return toIntroduction(services.values(), dialect, (own ?? contextId) as string);
  }

  async function send(params: RpcParams, context: TaskContext): Promise<Step | A2aRefusal | Talk> {
    const message = readMessageParams(params);
    if (isRefusal(message)) return message;
    const { taskId, contextId, parts, payment, historyLength } = message;
    if (taskId === undefined && typeof payment !== "object" && isSmallTalk(parts, services)) return { contextId };
    const step = await (taskId === undefined ? begin(message, context) : goOn(taskId, message, context));
    return isRefusal(step) ? step : { ...step, historyLength };
  }

  async function begin(message: SentMessage, context: TaskContext): Promise<Step | A2aRefusal> {
    const { parts, contextId, payment } = message;
    // A removed service gets no new offers; its earlier offers can still be paid.
    const requested = readRequestedCall(parts, typeof payment === "object" ? routed : services, context.body.text);
    if (isRefusal(requested)) return requested;
    const { service, input } = requested;
    checkMessageBytes(service, context.body.bytes);
    const head = remember(book.draft(service.manifest.id, contextId), message);
    const paid = !service.manifest.sign_in && typeof payment === "object" ? payment.payment : undefined;
    if (paid !== undefined) {
      // No new offer is made: none may be available now. A payment may also have bought from a service that is free today.
      const due = { status: "payment-required" as const, receipts: [] };
      const task = await book.write(head, { state: "input-required", text: PAID, input, payment: due });
      await index.begun(task, contextId === undefined);
      return pay(task, paid, context);
    }
    const offered = await (isFree(service) ? calls.run : calls.offer)(head, service, input, context);
    await index.begun(offered.task, contextId === undefined);
    return offered;
  }

  async function goOn(id: string, message: SentMessage, context: TaskContext): Promise<Step | A2aRefusal> {
    const { contextId, payment } = message;
    const task = await find(id, context);
    if (!task) return unknownTask(id);
    if (contextId !== undefined && contextId !== task.contextId)
      return refuseParams("The task belongs to another context; leave contextId out, or send its own");
    if (ENDED.includes(task.state)) {
      // The answer to this payment was lost; a new task would be paid for again.
      if (typeof payment === "object" && (await book.isSamePurchase(id, payment))) return look(task, context);
      return refuse(
        A2A_CODES.unsupportedOperation,
        `The task is ${task.state} and takes no more messages; send a new one`,
      );
    }
    if (payment === "rejected") return giveUp(task, context);
    if (task.state === "input-required" && asksForAnotherCall(message, task, routed)) return refuseParams(ANOTHER_CALL);
    if (payment && !task.job) return pay(remember(task, message), payment.payment, context);
    const service = services.get(task.skill);
    const isOpen = task.state === "input-required" && !(await book.claimed(id));
    const isNoted = task.payment?.status === "payment-submitted";
    if (!isOpen) return isNoted ? calls.show(task, context) : look(task, context); // A payment that is being made is not stored.
    const reminded = remember(task, message);
    const answer: Answer = async () => {
      if (await book.claimed(id)) return look(task, context);
      const isReady = service && (context.signIn !== undefined || isFree(service)); // It may have become free.
      if (isReady) return calls.offer(reminded, service, task.input, context);
      return calls.show(await book.write(reminded, task), context);
    };
    return inTurn(id, context, answer, () => calls.show({ ...task, ...AT_WORK }, context));
  }

  async function find(id: string, context: TaskContext): Promise<Task | undefined> {
    const task = await book.read(id);
    return task?.job ? follow(task, context) : task;
  }

  async function get(params: RpcParams, context: TaskContext): Promise<Step | A2aRefusal> {
    const id = readTaskId(params);
    if (typeof id !== "string") return id;
    const historyLength = readHistoryLength(params);
    if (typeof historyLength === "object") return historyLength;
    const task = await find(id, context);
    return task ? { ...(await look(task, context)), historyLength } : unknownTask(id);
  }

  /** Shows a task. A payment without an outcome is continued, whoever asks. */
  async function look(task: Task, context: TaskContext): Promise<Step> {
    const payment = isOver(task) || task.job ? undefined : (await book.claimed(task.id))?.payment;
    const step = payment ? await pay(task, payment, context) : undefined;
    if (step && !isRefusal(step)) return step;
    const isFreeCall = task.state === "input-required" && !payment && (await book.isInTurn(task.id));
    return calls.show(isFreeCall ? { ...task, ...AT_WORK } : task, context);
  }

  async function cancel(params: RpcParams, context: TaskContext): Promise<Step | A2aRefusal> {
    const id = readTaskId(params);
    if (typeof id !== "string") return id;
    const task = await find(id, context);
    if (!task) return unknownTask(id);
    return ENDED.includes(task.state) ? refuseCancel(`is ${task.state}`) : giveUp(task, context);
  }

  /**
   * A task takes one payment: a second one would be charged for the same work. One request at a time works on it, so that
   * none withdraws the claim of a payment that another one is making.
   */
  async function pay(task: Task, payment: string | object, context: TaskContext): Promise<Step | A2aRefusal> {
    const { id, skill } = task;
    if (!routed.has(skill) && (await book.isClaimedFor(id, { payment }))) {
      const why = `The skill "${skill}" is not offered any more, and its payment may have been sent; do not pay again.`;
      return calls.wait(task, payment, new Problem("settlement-unknown", why), context);
    }
    if (!(await book.claimPayment(id, { payment, task }))) {
      // Signed anew, since the answer was lost: the first payment counts.
      if (await book.isSamePurchase(id, { payment })) return look(task, context);
      return refuse(A2A_CODES.unsupportedOperation, TAKEN);
    }
    // Before this turn the claim may have been withdrawn, and the task been canceled.
    const make: Answer = async () =>
      (await book.claimPayment(id, { payment, task }))
        ? calls.pay(task, payment, context)
        : refuse(A2A_CODES.unsupportedOperation, TAKEN);
    return inTurn(id, context, make, () => calls.wait(task, payment, new Problem("payment-in-progress"), context));
  }

  /** Works on a task that is not over, unless another request does: a payment and a free call would both buy it. */
  async function inTurn(id: string, context: TaskContext, work: Answer, wait: Answer): ReturnType<Answer> {
    const turn = await book.takeTurn(id);
    if (!turn) return wait();
    try {
      const known = await book.read(id);
      return await (known && isOver(known) ? calls.show(known, context) : work());
    } finally {
      await turn.release().catch(() => {}); // It lapses by itself.
    }
  }

  async function giveUp(task: Task, context: TaskContext): Promise<Step | A2aRefusal> {
    if (task.job) return refuseCancel("is a job that has begun");
    const payment = { status: "payment-rejected" as const, receipts: task.payment?.receipts ?? [] };
    const end: Answer = async () =>
      (await book.claimPayment(task.id, { payment: null }))
        ? calls.show(await book.write(task, { state: "canceled", text: CANCELED, payment }), context)
        : refuseCancel("is being paid for");
    return inTurn(task.id, context, end, async () => refuseCancel("is being worked on"));
  }
}

/** Whether nothing about a task can change. A failed one keeps its input until it is known how its price was paid back. */
const isOver = ({ state, input }: Task): boolean => ENDED.includes(state) && input === undefined;

type Answer = () => Promise<Step | A2aRefusal>;

/** A message that continues no task. */
interface Talk {
  readonly contextId: string | undefined;
}

const CANCELED = "Canceled; nothing was charged.";
const PAID = "The payment was received.";
const TAKEN = "The task is being paid for, or was canceled; ask for it with tasks/get";
const AT_WORK = { state: "working", text: "The task is being worked on; ask for it with tasks/get" } as const;
const ANOTHER_CALL =
  "The task keeps the skill and the input that it began with; leave taskId out to ask for another call";

const unknownTask = (id: string): A2aRefusal =>
  refuse(A2A_CODES.taskNotFound, `There is no task ${JSON.stringify(id)}; it may have been forgotten`);

const refuseCancel = (why: string): A2aRefusal =>
  refuse(A2A_CODES.taskNotCancelable, `The task ${why} and cannot be canceled`);
