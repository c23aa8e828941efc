import { expect } from "chai";
import type { LlmRequest } from "../../../runtime/api/capabilities.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { createLlm, type LlmOptions } from "../../../runtime/drivers/llm/llm.ts";
import { createLogBook, type LogLine } from "../http.ts";
import type { Asked, LlmServer } from "./llm-server.ts";

/** The schema that the questions of these tests ask for. */
export const SCHEMA = {
  type: "object",
  properties: {
    word: { type: "string", pattern: "^\\s*\\S", maxLength: 20, description: "One word." },
    score: { type: "integer", minimum: 0, maximum: 9 },
    notes: { type: "array", items: { type: "string", minLength: 1 }, maxItems: 2 },
    extra: { type: ["string", "null"] },
  },
  required: ["word", "score"],
};
export const GOOD = { word: "yes", score: 7 };
export const FIRST = "gpt-first";
export const SECOND = "gpt-second";

export interface TermsOfTest {
  readonly apiKey?: string | undefined;
  readonly fallbackModel?: string;
  /** Timeout of one attempt in seconds; 30 by default, since a busy machine is slow. */
  readonly seconds?: number;
  readonly options?: Partial<LlmOptions>;
}

/** The real driver with a scripted endpoint. */
export interface Questions {
  ask(data?: string, change?: Partial<LlmRequest>): Promise<typeof GOOD>;
  /** The Problem with which a question fails. */
  fail(question?: Promise<unknown>): Promise<Problem>;
  outage(): string | undefined;
  /** The request bodies that the endpoint received. */
  bodies(): Asked["body"][];
  models(): string[];
  /** The types of `response_format`. */
  formats(): (string | undefined)[];
  readonly lines: readonly LogLine[];
}

/** A new driver, as after a restart; the received requests are cleared. */
export function openQuestions(server: LlmServer, terms: TermsOfTest = {}): Questions {
  const { apiKey = "apiKey" in terms ? undefined : "sk-of-ours", fallbackModel, seconds = 30, options } = terms;
  const book = createLogBook();
  const llm = createLlm({
    endpoint: { baseUrl: server.url, apiKey, model: FIRST, fallbackModel },
    limitsOf: () => ({ max_tokens: 300, timeout_seconds: seconds }),
    schemaOf: () => SCHEMA,
    clock: { now: Date.now },
    log: book,
    ...options,
  });
  server.asked.length = 0;
  const ask: Questions["ask"] = (data = "a text", change = {}) =>
    llm.answer({
      service: "ser.vice",
      instructions: "Judge the text.",
      data,
      signal: new AbortController().signal,
      ...change,
    });
  const bodies = (): Asked["body"][] => server.asked.map(({ body }) => body);
  return {
    ask,
    async fail(question = ask()) {
      const reason = await question.then(
        (answer) => expect.fail(`answered ${JSON.stringify(answer)}`),
        (error: unknown) => error,
      );
      return reason instanceof Problem ? reason : expect.fail(`not a Problem: ${String(reason)}`);
    },
    outage: llm.outage,
    bodies,
    models: () => bodies().map(({ model }) => model),
    formats: () => bodies().map(({ response_format: format }) => format?.type),
    lines: book.lines,
  };
}
