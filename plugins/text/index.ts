import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkSaid, definePlugin, isBlank, type Plugins, Problem, toValueError } from "#plugin";
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
      async run({ target }, { service, signal }) {
        const read = await llm.answer<Output<"roast">>({ service, instructions: roast, data: target, signal });
        checkSaid(read.roast);
        return read;
      },
    },

    aura: {
      check: checkTarget,
      async run({ target }, { service, signal }) {
        const asked = { service, instructions: aura, data: target, schema: AURA, signal };
        const read = await llm.answer<Omit<Output<"aura">, "tier">>(asked);
        checkSaid(read.description);
        return { ...read, tier: tierOf(read.score) };
      },
    },

    grade: {
      check: checkTarget,
      async run({ target }, { service, signal }) {
        const read = await llm.answer<Output<"grade">>({ service, instructions: grade, data: target, signal });
        checkSaid(read.summary);
        return read;
      },
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

type Output<Name extends keyof Plugins["text"]> = Plugins["text"][Name]["output"];

/** The part of schemas/AuraResponse.json that the language model writes. */
const AURA = {
  type: "object",
  properties: {
    color: { type: "string", pattern: "^\\s*\\S", description: "Its colour, in a few free words." },
    score: { type: "integer", minimum: 0, maximum: 9999, description: "0 to 9999, higher is stronger." },
    description: {
      type: "string",
      pattern: "^\\s*\\S",
      description: "What it looks and feels like, in two to four sentences.",
    },
  },
  required: ["color", "score", "description"],
};

const readPrompt = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, "prompts", `${name}.txt`), "utf8");
