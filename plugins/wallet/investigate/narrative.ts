import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Call, checkSaid, type Host, Problem } from "#plugin";
import type { Evidence, Missing } from "./evidence.ts";
import type { Assessment } from "./score/score.ts";

/** The language model's summary, or why it failed; both null when no model is configured. */
export interface Narrative {
  readonly text: string | null;
  readonly failure: Missing | null;
}

const SCHEMA = {
  type: "object",
  properties: {
    narrative: { type: "string", pattern: "^\\s*\\S", maxLength: 2000, description: "Two to five plain sentences." },
  },
  required: ["narrative"],
  additionalProperties: false,
};

const PROMPT = join(import.meta.dirname, "prompts/narrative.v1.txt");

/** Asks the language model for a summary. The score never depends on it. @throws only the signal's reason. */
export async function narrate(
  { evidence, assessment }: { readonly evidence: Evidence; readonly assessment: Assessment },
  { llm, log }: Pick<Host, "llm" | "log">,
  { service, signal }: Pick<Call, "service" | "signal">,
): Promise<Narrative> {
  try {
    const { narrative } = await llm.answer<{ narrative: string }>({
      service,
      instructions: await readFile(PROMPT, "utf8"),
      data: JSON.stringify(toBrief(evidence, assessment)),
      schema: SCHEMA,
      signal,
    });
    checkSaid(narrative);
    return { text: narrative, failure: null };
  } catch (error) {
    signal.throwIfAborted();
    const problem = Problem.from(error);
    if (problem.code === "unavailable") return { text: null, failure: null };
    log.warn("investigate.no-narrative", { error });
    return { text: null, failure: { source: "language model", message: problem.message, atStake: 0 } };
  }
}

/** The model's input: the findings without the long lists. */
function toBrief({ subject, screened, activity, identity, movements, graph, missing }: Evidence, found: Assessment) {
  return {
    ...found,
    subject,
    activity,
    missing,
    sanctions: screened.notes,
    names: [identity.ensName, identity.snsName, ...identity.labels].filter((name) => name !== null),
    linkedAddresses: identity.links.length,
    volumes: movements.volumes,
    counterparties: graph.counterparties,
    flagged: graph.nodes
      .filter(({ hop, screened: found }) => hop > 0 && found !== null && found.risk_score > 0)
      .map(({ hop, label, screened: found }) => ({ hop, label, level: found?.risk_level, labels: found?.labels })),
  };
}
