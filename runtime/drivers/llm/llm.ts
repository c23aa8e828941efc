import { isDeepStrictEqual } from "node:util";
import type { Clock, Llm, LlmRequest, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { once, oncePer } from "../../core/once.ts";
import { createCompiler, type Schema } from "../../core/schema/validator.ts";
import type { LlmLimits } from "../../core/set/manifest.ts";
import { createGate } from "../upstream/gate.ts";
import { type Fetch, openLlmClient } from "./client.ts";
import type { AnswerForm } from "./dialect.ts";
import { isForbidden, noteSilence, toProblem } from "./failures.ts";
import { type Message, toCorrection, toMessages } from "./messages.ts";
import { type Completion, createModel, type Model } from "./model.ts";
import { findObjects } from "./object.ts";

/** An OpenAI-compatible endpoint. */
export interface LlmEndpoint {
  /** The URL before `/chat/completions`, e.g. `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  /** Not needed by local endpoints. */
  readonly apiKey?: string | undefined;
  readonly model: string;
  /** A model of the same endpoint that is asked when the first one fails. */
  readonly fallbackModel?: string | undefined;
}

export interface LlmOptions {
  /** When undefined, every request is refused as `unavailable`. */
  readonly endpoint: LlmEndpoint | undefined;
  /** The manifest's `llm` of a service. */
  readonly limitsOf: (service: string) => LlmLimits | undefined;
  /** The output schema of a service, without `$ref`s to other files, since it is sent to the endpoint. */
  readonly schemaOf: (service: string) => object | undefined;
  /** Replaces the network, for example by recorded answers. */
  readonly fetch?: Fetch | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The language model with its state. */
export interface LiveLlm extends Llm {
  /** Why it is known not to answer at present, a sentence without its full stop; undefined when it may answer. */
  outage(): string | undefined;
}

/** One request, in the form that every model gets. */
interface Question {
  readonly messages: readonly Message[];
  readonly form: AnswerForm;
  readonly schema: Schema;
}

/** The first answer, and a second one when the first is unusable. */
const ATTEMPTS = 2;

/** A language model behind an endpoint for OpenAI's chat completions. An answer is data: nothing in it is executed. */
export function createLlm({ endpoint, limitsOf, schemaOf, fetch, clock, log }: LlmOptions): LiveLlm {
  const models = endpoint ? createModels(endpoint, fetch) : [];
  let gate = createGate(clock);
  let silence: Problem | undefined;
  /** A compiler for each schema, since a compiler keeps its schemas, and a question may bring one of its own. */
  const compile = oncePer((document: object) => createCompiler(new Map())(document));

  function toQuestion(request: LlmRequest): Question {
    const { service } = request;
    const document = request.schema ?? schemaOf(service);
    const limits = limitsOf(service);
    if (!document || !limits) throw new RangeError(`The manifest of ${service} does not say what it asks of a model`);
    const schema = compile(document);
    const form = { name: service, schema: schema.document, limits };
    return { messages: toMessages(request, document), form, schema };
  }

  async function ask(model: Model, { messages, form, schema }: Question, signal: AbortSignal): Promise<unknown> {
    const conversation = [...messages];
    for (let attempt = 1; ; attempt++) {
      const completion = await model.complete(conversation, form, signal);
      const { value, fault } = readAnswer(completion, schema);
      if (fault === undefined) return value;
      log.warn("llm.unusable", { service: form.name, model: model.name, fault });
      if (attempt === ATTEMPTS) throw new Problem("upstream-failed", "The language model gave no usable answer");
      conversation.push(...toCorrection(completion.text, fault));
    }
  }

  return {
    async answer<T>(request: LlmRequest): Promise<T> {
      const { service, signal } = request;
      if (models.length === 0) throw new Problem("unavailable", "No language model is configured");
      const question = toQuestion(request);
      const begun = clock.now();
      let failure: unknown;
      for (const model of models) {
        try {
          const answer = await ask(model, question, signal);
          gate = createGate(clock); // It answers again, whatever it said before.
          return answer as T; // It fits the schema; the plugin declares that T matches that schema.
        } catch (error) {
          signal.throwIfAborted();
          log[isForbidden(error) ? "error" : "warn"]("llm.failed", { service, model: model.name, error });
          failure = error;
        }
      }
      const problem = toProblem(failure);
      if (noteSilence(gate, failure, begun)) silence = problem;
      throw problem;
    },
    outage: () => (gate.refusal() ? silence?.message : undefined),
  };
}

/** Only the last model's attempts are repeated after an outage: before it, the next model is asked instead. */
function createModels(endpoint: LlmEndpoint, fetch: Fetch | undefined): Model[] {
  const client = once(() => openLlmClient(endpoint, fetch));
  const names = [endpoint.model, endpoint.fallbackModel].filter((name) => name !== undefined);
  return names.map((name, at) => createModel(name, client, at === names.length - 1 ? 1 : 0));
}

/** The object in an answer that fits the schema, or the fault, in words for the model. */
function readAnswer({ text, isCut }: Completion, schema: Schema): { value?: unknown; fault?: string } {
  const lists = findObjects(text).map((objects) => objects.map((found) => schema.check(found, "body")));
  for (const checked of lists) {
    const fitting = checked.filter(({ issues }) => issues.length === 0).map(({ value }) => value);
    if (fitting.every((value) => isDeepStrictEqual(value, fitting[0])) && fitting.length > 0)
      return { value: fitting[0] };
    if (fitting.length > 0) return { fault: "It holds several answers. Give the final one alone." };
  }
  const [first] = lists.flat();
  if (isCut) return { fault: "It was cut off because it was too long. Be much shorter." };
  if (!first) return { fault: "It holds no JSON object." };
  return { fault: first.issues.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("\n") };
}
