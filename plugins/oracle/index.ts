import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { checkSaid, definePlugin, isBlank, type Plugins, Problem, toValueError } from "#plugin";

/** Answers a yes/no question with a language model, and anchors the answer before returning it. */
export default definePlugin("oracle", async ({ anchor, clock, llm }) => {
  const instructions = await readFile(join(import.meta.dirname, "prompts/oracle.v1.txt"), "utf8");
  return {
    oracle: {
      check({ question }) {
        const error = findFault(question);
        if (error)
          throw new Problem("invalid-input", undefined, { issues: [toValueError(error, question, "question")] });
      },

      ready: (_input, signal) => anchor.ready(signal),

      async run({ question }, { service, signal, step }) {
        const asked = { service, instructions, data: question, schema: VERDICT, signal };
        const { answer, explanation, asked_at } = await step("verdict", async () => {
          const asked_at = Math.floor(clock.now() / 1000);
          const verdict = await llm.answer<Verdict>(asked);
          checkSaid(verdict.explanation);
          return { ...verdict, asked_at };
        });
        const merkle_root = createHash("sha256").update(`${question}|${answer}|${asked_at}`).digest("hex");
        const { base, solana } = await step("anchor", () => anchor.write(merkle_root, signal));
        return { answer, explanation, merkle_root, base_tx: base.tx, solana_tx: solana?.tx ?? null, asked_at };
      },
    },
  };
});

function findFault(question: string): string | undefined {
  if (isBlank(question)) return "question must not be blank";
  return question.isWellFormed() ? undefined : "question must be well-formed Unicode: it holds a lone surrogate";
}

type Verdict = Pick<Plugins["oracle"]["oracle"]["output"], "answer" | "explanation">;

/** The part of schemas/OracleResponse.json that the language model writes. */
const VERDICT = {
  type: "object",
  properties: {
    answer: { enum: ["YES", "NO", "MAYBE"], description: "The answer to the question." },
    explanation: { type: "string", pattern: "^\\s*\\S", description: "Why, in one to three sentences." },
  },
  required: ["answer", "explanation"],
};
