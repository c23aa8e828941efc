import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin } from "#plugin";
import { tierOf } from "./tiers.ts";

/** Texts that a language model writes about a text: /v1/roast, /v1/aura and /v1/grade. */
export default definePlugin("text", async ({ llm }) => {
  const [roast, aura, grade] = await Promise.all([
    readPrompt("roast.v1"),
    readPrompt("aura.v1"),
    readPrompt("grade.v1"),
  ]);
  return {
    roast: ({ target }, { signal }) => llm.answer({ service: "roast", instructions: roast, data: target, signal }),

    async aura({ target }, { signal }) {
      const read = await llm.answer<Aura>({ service: "aura", instructions: aura, data: target, signal });
      return { ...read, tier: tierOf(read.score) };
    },

    grade: ({ target }, { signal }) => llm.answer({ service: "grade", instructions: grade, data: target, signal }),
  };
});

/** The part of schemas/AuraResponse.json that the language model writes. */
interface Aura {
  readonly color: string;
  readonly score: number;
  readonly description: string;
}

const readPrompt = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, "prompts", `${name}.txt`), "utf8");
