import type OpenAI from "openai";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { type AnswerForm, FIRST_DIALECT, toParameters, toPlainer } from "./dialect.ts";
import type { Message } from "./messages.ts";

/** A model's answer. */
export interface Completion {
  readonly text: string;
  /** Whether the length limit cut it off. */
  readonly isCut: boolean;
}

/** One model of an endpoint. */
export interface Model {
  readonly name: string;
  /**
   * @throws Problem `upstream-failed` when the model declines; the client's error without an answer; the signal's
   * reason.
   */
  complete(messages: readonly Message[], form: AnswerForm, signal: AbortSignal): Promise<Completion>;
}

/**
 * Asks a model in the strictest dialect that its endpoint accepts, and remembers that dialect.
 * @param retries how often an attempt is repeated after an outage.
 */
export function createModel(name: string, client: () => Promise<OpenAI>, retries: number): Model {
  let dialect = FIRST_DIALECT;

  return {
    name,
    async complete(messages, form, signal) {
      const { chat } = await client();
      const options = { signal, timeout: form.limits.timeout_seconds * 1000, maxRetries: retries };
      for (let asked = dialect; ; ) {
        try {
          const body = { model: name, messages: [...messages], ...toParameters(asked, form) };
          const completion = await chat.completions.create(body, options);
          dialect = asked;
          return toCompletion(completion);
        } catch (error) {
          const plainer = toPlainer(asked, error);
          if (!plainer) throw error;
          asked = plainer;
        }
      }
    },
  };
}

/** Checks the answer, since an endpoint may send anything: the client returns even an HTML page as a string. */
function toCompletion(completion: Partial<OpenAI.ChatCompletion> | string | null): Completion {
  const choice = typeof completion === "object" ? completion?.choices?.[0] : undefined;
  if (!choice?.message) throw new Problem("upstream-failed", "The language model's answer is malformed");
  const { message, finish_reason } = choice;
  if (message.refusal || finish_reason === "content_filter")
    throw new Problem("upstream-failed", "The language model declined to answer");
  return { text: toText(message.content), isCut: finish_reason === "length" };
}

/** Some endpoints (Mistral's for reasoning models) answer in parts, of which those with a `text` are the answer. */
function toText(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
}
