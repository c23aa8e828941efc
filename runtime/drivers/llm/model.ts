import type OpenAI from "openai";
import { Problem } from "../../api/problem.ts";
import { type AnswerForm, FIRST_DIALECT, toParameters, toPlainer } from "./dialect.ts";
import type { Message } from "./messages.ts";

/** What a model said. */
export interface Completion {
  readonly text: string;
  /** It had more to say than it was allowed to. */
  readonly isCut: boolean;
}

/** One model of an endpoint. */
export interface Model {
  readonly name: string;
  /** @throws Problem `upstream-failed` when it declines; what the client throws when nothing came; the signal's end. */
  complete(messages: readonly Message[], form: AnswerForm, signal: AbortSignal): Promise<Completion>;
}

/**
 * Asks a model in the strictest way that its endpoint takes, and remembers which one that is.
 * @param retries how often an attempt that met an outage is repeated.
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

/** An endpoint may send anything, whatever the client's types say: a page of HTML is a text to it. */
function toCompletion(completion: Partial<OpenAI.ChatCompletion> | string | null): Completion {
  const choice = typeof completion === "object" ? completion?.choices?.[0] : undefined;
  if (!choice?.message) throw new Problem("upstream-failed", "The language model's answer makes no sense");
  const { message, finish_reason } = choice;
  if (message.refusal || finish_reason === "content_filter")
    throw new Problem("upstream-failed", "The language model declined to answer");
  return { text: typeof message.content === "string" ? message.content : "", isCut: finish_reason === "length" };
}
