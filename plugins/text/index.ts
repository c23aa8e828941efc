import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { definePlugin, isBlank, Problem, toValueError } from "#plugin";
import { tierOf } from "./tiers.ts";

/** Texts that a language model writes about a text: /v1/roast, /v1/aura and /v1/grade. */
export default definePlugin("text", async ({ llm }) => {
  const [roast, aura, grade] = await Promise.all([
    readPrompt("roast.v1"),
    readPrompt("aura.v1"),
    readPrompt("grade.v1"),
  ]);
  return {
    roast: {
      check: checkTarget,
      run: ({ target }, { signal }) => llm.answer({ service: "roast", instructions: roast, data: target, signal }),
    },

    aura: {
      check: checkTarget,
      async run({ target }, { signal }) {
        const read = await llm.answer<Aura>({ service: "aura", instructions: aura, data: target, signal });
        return { ...read, tier: tierOf(read.score) };
      },
    },

    grade: {
      check: checkTarget,
      run: ({ target }, { signal }) => llm.answer({ service: "grade", instructions: grade, data: target, signal }),
    },
  };
});

/** @throws Problem `invalid-input` for a text without a visible character. */
function checkTarget({ target }: { readonly target: string }): void {
  if (!isBlank(target)) return;
  throw new Problem("invalid-input", undefined, {
    issues: [toValueError("target must not be blank", target, "target")],
  });
}

/** The part of schemas/AuraResponse.json that the language model writes. */
interface Aura {
  readonly color: string;
  readonly score: number;
  readonly description: string;
}

const readPrompt = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, "prompts", `${name}.txt`), "utf8");
