import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem, type ProblemCode } from "../../api/problem.ts";
import type { CallCourse, Outcome } from "../../core/call.ts";
import type { Invoke } from "../../core/invoke.ts";
import type { Service } from "../../core/service.ts";
import { NOT_SIGNED_IN, toCharged, UNPAID } from "../../core/x402/challenge.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { type DoorBody, toProblemDocument } from "../rpc/door.ts";
import type { ShownTask } from "./dialects.ts";
import { toEnd, withFullStop } from "./errors.ts";
import { toAnswered } from "./jobs.ts";
import { DUPLICATE_NONCE, toPayingAccount, toPaymentCode, toRequired, withReceipt } from "./payment.ts";
import { isFree } from "./skills.ts";
import { type Task, type TaskBook, type TaskChange, type TaskHead, type TaskPayment, toTask } from "./task-book.ts";
import type { TaskIndex } from "./task-index.ts";

/** The facts of a request that calls need. */
export interface TaskContext {
  readonly requestId: string;
  readonly body: DoorBody;
  readonly signal: AbortSignal;
  /** A wallet's proof for signing in. */
  readonly signIn?: string | object | undefined;
  /** The exchange between peers that a payment is for. */
  readonly exchange: string | undefined;
  /** Whether challenges are shown in the form of x402 version 1. */
  readonly version1: boolean;
}

/** A task after a request, and how the call ended when the request led to one. */
export interface Step extends ShownTask {
  readonly receipt?: SettleResponse;
  readonly asset?: string;
  readonly problem?: Problem;
  /** The payment was settled for an earlier request. */
  readonly isRepeat?: boolean;
}

const toDue = (price: string): string => `Payment is required: ${price} USD, in one of the accepted ways.`;
const FREE_NOW = "The skill is free now: send another message to this task.";
const DUE = /Payment is required: [\d.]+ USD, in one of the accepted ways\.$/;

/** The payment of a task, and whether it was verified for this task. */
interface Paying {
  readonly payment: string | object;
  readonly isOwn: boolean;
}

/** The calls of services behind tasks. Every purchase goes through `invoke`. */
export interface TaskCalls {
  /** Runs a free service: the task ends at once, or its job begins. */
  run(head: TaskHead, service: Service, input: unknown, context: TaskContext): Promise<Step>;
  /**
   * The task of a service that requires a payment or a sign-in. It waits for that, or is completed when the request
   * brings a valid sign-in proof. @throws Problem `unavailable` when no rail is up.
   */
  offer(head: TaskHead, service: Service, input: unknown, context: TaskContext): Promise<Step>;
  /** A task in its current state, with the current offers while it waits for a payment. */
  show(task: Task, context: TaskContext): Promise<Step>;
  /** Continues a task with the payment that has claimed it. The same payment again resumes the same call. */
  pay(task: Task, payment: string | object, context: TaskContext): Promise<Step>;
  /** The task while this request cannot continue its payment. */
  wait(task: Task, payment: string | object, why: Problem, context: TaskContext): Promise<Step>;
}

export interface TaskCallsOptions {
  readonly services: ReadonlyMap<string, Service>;
  readonly invoke: Invoke;
  readonly book: TaskBook;
  readonly index: Pick<TaskIndex, "paid">;
  /** The URL of the A2A endpoint: the resource that is paid for. */
  readonly endpoint: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The payment is in progress, or was sent and its outcome is unknown. */
const PENDING: readonly ProblemCode[] = ["payment-in-progress", "settlement-unknown", "paid-not-delivered"];
/** The payment was not sent: the task waits as before. */
const UNTOUCHED: readonly ProblemCode[] = ["facilitator-unavailable", "rate-limited"];

export function createTaskCalls(options: TaskCallsOptions): TaskCalls {
  const { services, invoke, book, index, endpoint: resource, clock, log } = options;
  const call = (
    service: Service,
    input: unknown,
    payment: string | object | undefined,
    { requestId: id, signal, exchange, signIn }: TaskContext,
    course: CallCourse = { begun: clock.now() },
  ) => {
    const read = async () => ({ value: input, from: "body" as const });
    return invoke(service, { id, input: read, payment, signIn, resource, signal, exchange, door: "a2a", course });
  };
  /** The challenge of a task that waits for its payment. */
  const requiredFor = async (
    { skill, input, state, payment }: Task,
    context: TaskContext,
  ): Promise<ShownTask["required"]> => {
    const service = services.get(skill);
    if (state !== "input-required" || payment?.status === "payment-submitted" || !service) return undefined;
    if (isFree(service)) return undefined; // The call below would run it.
    const outcome = await call(service, input, undefined, { ...context, signIn: undefined });
    return outcome.kind === "challenge" ? toRequired(outcome.challenge, context) : undefined;
  };
  const show = async (task: Task, context: TaskContext): Promise<Step> => {
    const required = await requiredFor(task, context).catch(() => undefined); // No rail is up: the task is shown without a challenge.
    const service = services.get(task.skill);
    const { payment: _due, ...unpaid } = task;
    if (service && isFree(service) && DUE.test(task.text)) return { task: { ...unpaid, text: FREE_NOW } };
    const price = required && service?.manifest.price; // It may have changed.
    return { task: price === undefined ? task : { ...task, text: task.text.replace(DUE, toDue(price)) }, required };
  };

  return {
    show,
    run: async (head, service, input, context) =>
      endFree(head, await buy({ skill: service.manifest.id, input }, undefined, context), context),
    async offer(head, service, input, context) {
      const outcome = await call(service, input, undefined, context);
      if (outcome.kind === "result")
        return { task: await book.write(head, toAnswered(service, outcome.output, "Done.")) };
      const { required } = outcome.challenge;
      const { price } = service.manifest;
      const isNew = required.error === UNPAID || required.error === NOT_SIGNED_IN;
      const refused = isNew ? "" : `The proof was not accepted (${required.error}). `;
      const text = refused + (price === undefined ? `${NOT_SIGNED_IN}: with x402's sign-in-with-x.` : toDue(price));
      const payment = { status: "payment-required" as const, receipts: [] };
      const task = await book.write(head, { state: "input-required", text, input, payment });
      return { task, required: toRequired(outcome.challenge, context) };
    },
    async pay(task, payment, context) {
      const course: CallCourse = { begun: clock.now() };
      const outcome = await buy(task, payment, context, course);
      const service = services.get(task.skill);
      const isNew = task.payment?.status === "payment-required";
      const isUnread = outcome instanceof Problem && outcome.code === "unavailable"; // The store may know of a purchase.
      if (service && isFree(service) && isNew && course.sale === undefined && !isUnread) {
        await book.releasePayment(task.id, { payment }); // It has bought nothing, and was not needed.
        return endFree(task, outcome, context);
      }
      const isOwn = task.payment?.isOwn || course.verified !== undefined;
      const paying = { payment, isOwn };
      if (outcome instanceof Problem) return fail(task, paying, outcome, context);
      return task.state === "failed" ? { task } : conclude(task, paying, outcome, context);
    },
    wait: (task, payment, why, context) => fail(task, { payment, isOwn: task.payment?.isOwn === true }, why, context),
  };

  /**
   * Stores a task whose payment has moved money, or may have. When the store fails, its payer is told all the same: the
   * purchase is on record, and is found by the task's claim or by the same payment.
   */
  function keep(head: TaskHead, change: TaskChange): Promise<Task> {
    return book.write(head, change).catch((error: unknown) => {
      log.error("a2a.task-not-stored", { task: head.id, error });
      return toTask(head, change, clock.now());
    });
  }

  /** Catches problems of the call only: a later failure must not look like a failed purchase. */
  async function buy(
    task: Pick<Task, "skill" | "input">,
    payment: string | object | undefined,
    context: TaskContext,
    course?: CallCourse,
  ): Promise<Outcome | Problem> {
    const service = services.get(task.skill);
    if (!service) return new Problem("not-found", `The skill "${task.skill}" is not offered any more`);
    return call(service, task.input, payment, context, course).catch((thrown: unknown) => Problem.from(thrown));
  }

  /** Ends the task of a free call, which is never answered with a challenge. */
  async function endFree(head: TaskHead, outcome: Outcome | Problem, context: TaskContext): Promise<Step> {
    if (outcome instanceof Problem) return { task: await book.write(head, toEnd(outcome, context)), problem: outcome };
    const { output } = outcome as Extract<Outcome, { kind: "result" }>;
    return { task: await book.write(head, toAnswered(services.get(head.skill), output, "Done.")) };
  }

  /** Puts a task whose payment has moved money on the lists of its payer. */
  async function list(task: Task, { isOwn }: Paying, receipt: SettleResponse | undefined): Promise<void> {
    const account = receipt && isOwn ? toPayingAccount(receipt) : undefined;
    if (account !== undefined) await index.paid(task, account).catch(() => {}); // The task can still be read by its id.
  }

  async function conclude(task: Task, paying: Paying, outcome: Outcome, context: TaskContext): Promise<Step> {
    const { receipt } = outcome;
    const receipts = withReceipt(task, receipt);
    if (outcome.kind === "result") {
      const answered = toAnswered(services.get(task.skill), outcome.output, receipt ? "Paid and done." : "Done.");
      const paid = receipt && { payment: { status: "payment-completed" as const, receipts } }; // None where the service has become free.
      const written = await keep(task, { ...answered, ...paid });
      await list(written, paying, receipt);
      const { asset, isRepeat } = outcome;
      return { task: written, ...(receipt && { receipt }), ...(asset && { asset }), ...(isRepeat && { isRepeat }) };
    }
    const { required } = outcome.challenge;
    const text = `The payment was not accepted (${required.error}); ${toCharged(required.error)}.`;
    const refused = { status: "payment-failed" as const, error: toPaymentCode(required.error), receipts };
    const waiting = await book.write(task, { state: "input-required", text, input: task.input, payment: refused });
    await book.releasePayment(task.id, paying);
    return { task: waiting, required: toRequired(outcome.challenge, context), ...(receipt && { receipt }) };
  }

  async function fail(task: Task, paying: Paying, problem: Problem, context: TaskContext): Promise<Step> {
    const { code } = problem;
    const said = withFullStop(problem.message);
    // What becomes of its refund can be new to a task that has failed, and nothing else.
    if (task.state === "failed" && !(isPaidBack(problem) && said !== task.text)) return { task };
    const receipt = problem.options.receipt as SettleResponse | undefined; // Set when money has moved.
    const receipts = withReceipt(task, receipt);
    const sent = { status: "payment-submitted" as const, isOwn: paying.isOwn };
    const noted = { input: task.input, problem: toProblemDocument(problem, context.requestId) };
    const wait = (text: string, payment: Omit<TaskPayment, "receipts">): TaskChange => {
      return { state: "input-required", text, ...noted, payment: { ...payment, receipts } };
    };
    if (isPaidBack(problem)) {
      const isKnown = (problem.options.members?.refund_tx ?? null) !== null;
      const ended = { ...toEnd(problem, context), text: said, ...(!isKnown && { input: task.input }) };
      const payment = { status: "payment-completed" as const, receipts };
      const written = await keep(task, { ...ended, payment });
      await list(written, paying, receipt);
      return { task: written, problem };
    }
    if (PENDING.includes(code)) {
      const again = `${said} Ask for this task again, or send the same payment again.`;
      const working = { ...task, ...wait(again, sent), state: "working" as const };
      return { task: code === "payment-in-progress" ? working : await keep(task, working), problem };
    }
    if (code === "unavailable") {
      // The store may have failed halfway, so the claim stays and the task takes no other payment.
      const again = `${said} Send the same payment again: it is charged once at most.`;
      return { task: await keep(task, wait(again, sent)), problem };
    }
    const left = UNTOUCHED.includes(code)
      ? wait(said, { status: "payment-required" })
      : code === "payment-conflict"
        ? wait(said, { status: "payment-failed", error: DUPLICATE_NONCE })
        : { ...toEnd(problem, context), payment: { status: "payment-failed" as const, receipts } };
    const freed = await book.write(task, left);
    await book.releasePayment(task.id, paying);
    return { ...(await show(freed, context)), problem };
  }
}

/** Whether the payment is refunded and the work will never be delivered, so that asking again is useless. */
const isPaidBack = ({ code, options }: Problem): boolean =>
  code === "paid-not-delivered" && options.retryAfter === undefined;
