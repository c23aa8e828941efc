import { readFile } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import { type Call, checkSaid, type Llm } from "#plugin";
import { splitText } from "./parts.ts";

/** Summarizes a text of any length in 3 to 5 bullets. @throws the errors of `llm.answer`. */
export type Summarize = (text: string, call: Asking) => Promise<string[]>;
/** The part of a call by which the model is asked. */
type Asking = Pick<Call, "service" | "signal">;

/** The longest text of one question, in UTF-16 code units: it fits into small context windows. */
const PART_LENGTH = 16_000;
/** How many parts are summarized at the same time. */
const CONCURRENCY = 5;

/** The part of schemas/TldrResponse.json that the language model writes. */
const SUMMARY = {
  type: "object",
  properties: {
    summary_bullets: {
      type: "array",
      items: { type: "string", pattern: "^\\s*\\S", maxLength: 500 },
      minItems: 3,
      maxItems: 5,
      description: "The summary: 3 to 5 concise bullets, the most important first.",
    },
  },
  required: ["summary_bullets"],
};

/** Notes are much shorter than a part, so repeated condensing ends. */
const NOTES = {
  type: "object",
  properties: {
    notes: {
      type: "array",
      items: { type: "string", pattern: "^\\s*\\S", maxLength: 500 },
      minItems: 1,
      maxItems: 6,
      description: "What the part says, in its order.",
    },
  },
  required: ["notes"],
};

/** A long text is cut into parts; the model takes notes of each part, and then summarizes the notes. */
export async function createSummarize(llm: Llm): Promise<Summarize> {
  const [bullets, notes] = await Promise.all([readPrompt("bullets.v1"), readPrompt("notes.v1")]);

  const takeNotes = async (data: string, asking: Asking): Promise<string> => {
    const answer = await llm.answer<{ notes: string[] }>({ ...asking, instructions: notes, schema: NOTES, data });
    return saying(answer.notes).join("\n");
  };

  async function condense(text: string, { service, signal }: Asking): Promise<string> {
    const queue = new PQueue({ concurrency: CONCURRENCY });
    const failed = new AbortController();
    const either = AbortSignal.any([signal, failed.signal]);
    try {
      const tasks = splitText(text, PART_LENGTH).map((part) => () => takeNotes(part, { service, signal: either }));
      return (await queue.addAll(tasks, { signal: either })).join("\n\n");
    } finally {
      failed.abort(); // One failed part makes the others useless.
    }
  }

  return async (text, { service, signal }) => {
    let rest = text;
    while (rest.length > PART_LENGTH) rest = await condense(rest, { service, signal });
    const question = { service, instructions: bullets, schema: SUMMARY, data: rest, signal };
    const answer = await llm.answer<{ summary_bullets: string[] }>(question);
    return saying(answer.summary_bullets);
  };
}

/** @throws Problem `upstream-failed` for sentences that decline. */
function saying(sentences: string[]): string[] {
  checkSaid(sentences.join(" "));
  return sentences;
}

const readPrompt = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, "prompts", `${name}.txt`), "utf8");
