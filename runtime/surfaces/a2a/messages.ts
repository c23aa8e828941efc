import { isSameJson } from "../../core/digest.ts";
import { findRounded, isDeep, isObject, tryParseJson } from "../../core/json.ts";
import { INEXACT } from "../../core/perform.ts";
import { hasFiniteNumbers } from "../../core/schema/copy-value.ts";
import type { Service } from "../../core/service.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import type { RpcParams } from "../rpc/json-rpc.ts";
import { A2A_CODES, type A2aRefusal, refuse, refuseParams } from "./errors.ts";
import { type PaymentMessage, readPaymentMessage } from "./payment.ts";
import type { Task, TaskHead } from "./task-book.ts";

/** The fields of a message that this server reads; both dialects have them. */
export interface SentMessage {
  /** The id of the task that the message continues. */
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly payment: PaymentMessage;
  readonly parts: readonly unknown[];
  readonly messageId: string;
  /** How many messages of the history to show; undefined means all. */
  readonly historyLength: number | undefined;
}

/** The service and the input that a message asks for. */
export interface RequestedCall {
  readonly service: Service;
  readonly input: unknown;
}

const LONGEST_ID = 128;
/** How many messages a task keeps, and how long their JSON may be. */
const MOST_MESSAGES = 10;
const LONGEST_PARTS = 16_384;
const ROLES: readonly unknown[] = ["user", "ROLE_USER"];
const FIRST_WORD = /^\s*([^\s{]+)\s*(\{[\s\S]*)?$/;
const HOW =
  'Send a data part {"skill": "…", "input": {…}}, or a text: a skill\'s id, and its input as JSON behind it. ' +
  "A payment for a task needs its taskId.";

/** Reads the params of `message/send` and `SendMessage`. */
export function readMessageParams({ message, configuration }: RpcParams): SentMessage | A2aRefusal {
  if (!isObject(message)) return refuseParams("params.message must be an object");
  const { messageId, role, taskId, contextId, metadata = {}, parts = [] } = message;
  if (!isId(messageId) || messageId === "")
    return refuseParams(`message.messageId is required: a text of at most ${LONGEST_ID} characters`);
  if (!ROLES.includes(role)) return refuseParams('message.role must be "user", or "ROLE_USER" in A2A 1.0');
  const ids = [taskId ?? "", contextId ?? ""];
  if (!ids.every(isId)) return refuseParams(`taskId and contextId must be texts of at most ${LONGEST_ID} characters`);
  if (!Array.isArray(parts)) return refuseParams("message.parts must be a list");
  const settings = isObject(configuration) ? configuration : {};
  if (settings.pushNotificationConfig ?? settings.taskPushNotificationConfig)
    return refuse(A2A_CODES.pushNotSupported, "Push notifications are not supported; leave their configuration out");
  const historyLength = readHistoryLength(settings);
  if (typeof historyLength === "object") return historyLength;
  const [task, context] = ids.map((id) => id || undefined);
  const payment = readPaymentMessage(isObject(metadata) ? metadata : {});
  return { messageId, taskId: task, contextId: context, parts, payment, historyLength };
}

/** How many messages of a task's history the request wants; undefined means all. */
export function readHistoryLength({ historyLength }: RpcParams): number | undefined | A2aRefusal {
  if (historyLength === undefined || historyLength === null) return undefined;
  const isCount = typeof historyLength === "number" && Number.isSafeInteger(historyLength) && historyLength >= 0;
  return isCount ? historyLength : refuseParams("historyLength must be a whole number, 0 or more");
}

/** Whether a message is free text that names no skill. It is answered with an introduction. */
export function isSmallTalk(parts: readonly unknown[], services: ReadonlyMap<string, Service>): boolean {
  const texts = parts.map((part) => (isObject(part) && part.data == null && !isFile(part) ? part.text : undefined));
  if (texts.length === 0 || !texts.every((text) => typeof text === "string" && text.trim() !== "")) return false;
  const text = texts.join("\n");
  if (/[{[]/.test(text)) return false; // Looks like JSON, so it was meant as a call.
  const { skill } = readText(text);
  return typeof skill !== "string" || (!services.has(skill) && !didYouMean(skill, services.keys()));
}

/** Reads the id in the params of `tasks/get` and similar methods. */
export const readTaskId = ({ id }: RpcParams): string | A2aRefusal =>
  isId(id) && id !== "" ? id : refuseParams("params.id must be a task's id");

/** Reads the service and the input from a message's parts. @param json what the message was read from */
export function readRequestedCall(
  parts: readonly unknown[],
  services: ReadonlyMap<string, Service>,
  json: string,
): RequestedCall | A2aRefusal {
  if (parts.some(isFile)) return refuse(A2A_CODES.contentTypeNotSupported, `Files are not taken. ${HOW}`);
  const data = parts.filter(isObject).flatMap((part) => (part.data == null ? [] : [part.data]));
  if (data.length > 1)
    return refuseParams(`A message asks for one call, in one data part; this one has ${data.length}`);
  if (!data.every(isObject)) return refuseParams(`The data of a part is not a JSON object. ${HOW}`);
  const { skill, input, ...others } = readCall(parts);
  if (typeof skill !== "string") return refuseParams(HOW);
  const service = services.get(skill);
  if (!service) {
    const name = skill.slice(0, 80);
    return refuseParams(
      `There is no skill ${JSON.stringify(name)}${didYouMean(name, services.keys()) || "; the agent card lists them"}`,
    );
  }
  if (typeof input === "string") return refuseParams(`The input is not a JSON object. ${HOW}`);
  const stray = input === undefined ? Object.keys(others) : [];
  if (stray.length > 0) return refuseParams(`The input's fields belong into "input": ${stray.join(", ").slice(0, 80)}`);
  if (isDeep(input)) return refuseParams("The input is nested more than 256 levels deep");
  // A task keeps its input as JSON, where it would be rounded, or null, when it is paid.
  if (!hasFiniteNumbers(input)) return refuseParams("In the input, a number is infinite: larger than 1.8e308");
  if (service.manifest.proxy && findRounded(input, () => json)) return refuseParams(`In the input, ${INEXACT}`);
  return { service, input: input ?? {} };
}

/**
 * Whether a message to a waiting task asks for a call that is not the task's. Data without a skill is a new input, but
 * beside a payment it may be anything.
 */
export function asksForAnotherCall(
  { parts, payment }: SentMessage,
  task: Pick<Task, "skill" | "input">,
  services: ReadonlyMap<string, Service>,
): boolean {
  const { skill = payment === undefined ? task.skill : undefined, input } = readCall(parts);
  if (skill !== task.skill) return typeof skill === "string" && (services.has(skill) || isObject(input));
  return input != null && !isSameJson(input, task.input);
}

interface Said {
  readonly skill?: unknown;
  readonly input?: unknown;
}

/** The skill and the input that the parts name. */
function readCall(parts: readonly unknown[]): Said {
  const data = parts.map((part) => (isObject(part) ? part.data : undefined)).find(isObject);
  const texts = parts
    .map((part) => (isObject(part) ? part.text : undefined))
    .filter((said) => typeof said === "string");
  return { ...readText(texts.join("\n")), ...(data && ("skill" in data ? data : { input: data })) };
}

/** `{"skill": …, "input": …}`, or `skill {…}`; in Markdown's fence, too, as models write it. */
function readText(said: string): Said {
  const text = withoutFence(said.trim());
  const whole = tryParseJson(text);
  if (isObject(whole)) return whole;
  const [, skill, rest] = FIRST_WORD.exec(text) ?? [];
  const input = rest && (tryParseJson(rest) ?? rest); // Broken JSON stays a text, which no service takes.
  return { ...(skill !== undefined && { skill }), ...(input !== undefined && { input }) };
}

const withoutFence = (text: string): string =>
  /^```[^`]/.test(text) && text.endsWith("```") ? text.slice(3, -3).replace(/^json\b/i, "") : text;

const isFile = (part: unknown): boolean =>
  isObject(part) && (part.kind === "file" || ["file", "raw", "url"].some((kind) => part[kind] != null));

const isId = (id: unknown): id is string => typeof id === "string" && id.length <= LONGEST_ID && id.isWellFormed();

/** The task with one message added to its history. Files are dropped, and long messages are replaced by a note. */
export function remember<T extends TaskHead>(task: T, { messageId, parts }: SentMessage): T {
  const said = parts
    .filter(isObject)
    .flatMap(({ text, data }) => (typeof text === "string" ? { text } : data == null ? [] : { data }));
  const isLong = JSON.stringify(said).length > LONGEST_PARTS;
  const message = { messageId, parts: isLong ? [{ text: "(too long to be kept)" }] : said };
  return { ...task, history: [...(task.history ?? []), message].slice(-MOST_MESSAGES) };
}
