import type { Llm, LlmRequest, Log } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { once } from "../core/once.ts";
import type { Compile, Schema } from "../core/validator.ts";
import { type Fetch, openLlmClient } from "./llm-client.ts";
import type { LlmLimits } from "./llm-dialect.ts";
import { isForbidden, toProblem } from "./llm-failures.ts";
import { type Message, toCorrection, toMessages } from "./llm-messages.ts";
import { type Completion, createModel, type Model } from "./llm-model.ts";
import { findObject } from "./llm-object.ts";

/** Where models are. */
export interface LlmEndpoint {
  /** What stands before `/chat/completions`, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** Asked at the same endpoint when the first one fails. */
  readonly fallbackModel?: string | undefined;
}

export interface LlmOptions {
  /** Without one, every question is refused as `unavailable`. */
  readonly endpoint: LlmEndpoint | undefined;
  readonly limitsOf: (service: string) => LlmLimits;
  /** The output schema of a service, without `$ref`s to other files: it is sent along. */
  readonly schemaOf: (service: string) => object;
  readonly compile: Compile;
  /** Instead of the network: recorded answers, for example. */
  readonly fetch?: Fetch | undefined;
  readonly log: Log;
}

/** One question, as every model is asked it. */
interface Question {
  readonly service: string;
  readonly messages: readonly Message[];
  readonly schema: Schema;
  readonly limits: LlmLimits;
}

/** A language model behind any endpoint that speaks OpenAI's chat completions. An answer is data: nothing in it is ever run. */
export function createLlm({ endpoint, limitsOf, schemaOf, compile, fetch, log }: LlmOptions): Llm {
  const models = endpoint ? createModels(endpoint, fetch) : [];
  const ownSchemas = new Map<string, object>();
  const compiled = new WeakMap<object, Schema>();

  function toSchema({ service, schema }: LlmRequest): Schema {
    const own = schema ?? ownSchemas.get(service) ?? schemaOf(service);
    if (!schema) ownSchemas.set(service, own);
    const known = compiled.get(own) ?? compile(own);
    compiled.set(own, known);
    return known;
  }

  async function ask(model: Model, question: Question, signal: AbortSignal): Promise<unknown> {
    const { service, messages, schema, limits } = question;
    const form = { name: service, schema: schema.document, limits };
    const first = await model.complete(messages, form, signal);
    const read = readAnswer(first, schema);
    if (read.fault === undefined) return read.value;
    log.warn("llm.unusable", { service, model: model.name, fault: read.fault });
    const second = await model.complete([...messages, ...toCorrection(first.text, read.fault)], form, signal);
    const reread = readAnswer(second, schema);
    if (reread.fault === undefined) return reread.value;
    throw new Problem("upstream-failed", "The language model gave no usable answer", { cause: reread.fault });
  }

  async function askAny(question: Question, signal: AbortSignal, late: AbortSignal): Promise<unknown> {
    let failure: unknown;
    for (const model of models) {
      try {
        return await ask(model, question, AbortSignal.any([signal, late]));
      } catch (error) {
        signal.throwIfAborted();
        failure = late.aborted ? late.reason : error;
        const { service } = question;
        const isOver = late.aborted || isForbidden(error);
        log[isForbidden(error) ? "error" : "warn"]("llm.failed", { service, model: model.name, error: failure });
        if (isOver) break;
      }
    }
    throw toProblem(failure);
  }

  return {
    async answer<T>(request: LlmRequest): Promise<T> {
      const { service, signal } = request;
      signal.throwIfAborted();
      if (models.length === 0) throw new Problem("unavailable", "No language model is configured");
      const schema = toSchema(request);
      const limits = limitsOf(service);
      const question = { service, schema, limits, messages: toMessages(request, schema.document) };
      // The schema has just held; what T makes of it is the plugin's word.
      return (await askAny(question, signal, AbortSignal.timeout(limits.timeoutMs))) as T;
    },
  };
}

/** Whoever has a substitute is not asked again after an outage: the substitute is. */
function createModels(endpoint: LlmEndpoint, fetch: Fetch | undefined): Model[] {
  const client = once(() => openLlmClient(endpoint, fetch));
  const names = [endpoint.model, endpoint.fallbackModel].filter((name) => name !== undefined);
  return names.map((name, at) => createModel(name, client, at === names.length - 1 ? 1 : 0));
}

/** The object in an answer as the schema has it, or why there is none, in words that the model is shown. */
function readAnswer({ text, isCut }: Completion, schema: Schema): { value?: unknown; fault?: string } {
  const found = findObject(text);
  const { value, issues } = found ? schema.check(found, "body") : { value: undefined, issues: [] };
  if (found && issues.length === 0) return { value };
  if (isCut) return { fault: "It was cut off because it was too long. Be much shorter." };
  if (!found) return { fault: "It holds no JSON object." };
  return { fault: issues.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("\n") };
}
