import type { Command } from "commander";

/** Two examples for each command whose own help has none, by the command's words. */
const EXAMPLES: Readonly<Record<string, readonly [string, string]>> = {
  "": ["payphone init my-shop", `payphone call roll '{"low":1,"high":6}'`],
  serve: ["payphone serve", "payphone serve --check"],
  check: ["payphone check", "payphone check --discovery"],
  types: ["payphone types", "payphone types --check"],
  record: ["payphone record coingecko", "payphone record --check"],
  purchases: ["payphone purchases", "payphone purchases --url https://pay.example.com --json"],
  verify: ["payphone verify answer.json", "payphone verify answer.json --json"],
  "peer hello": ["payphone peer hello https://peer.example.com", "payphone peer hello https://peer.example.com --json"],
  "peer rotate": ["payphone peer rotate", "payphone peer rotate --env-file production.env"],
  "refunds close": [
    "payphone refunds close 3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55 --tx 0x…",
    "payphone refunds close 3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55 --tx 0x… --env-file production.env",
  ],
  "sales show": ["payphone sales show 0x…", "payphone sales show 3f0c7a52-6f0e-4c1b-9f64-0d7a4be21c55 --json"],
  "webhooks resend": [
    "payphone webhooks resend --given-up",
    "payphone webhooks resend --from 2026-11-01 --to 2026-11-02",
  ],
};

/** Adds examples to the help of every command that needs them. */
export function addExamples(command: Command, words: readonly string[] = []): void {
  const own = EXAMPLES[words.join(" ")];
  if (own) command.addHelpText("after", `\nExamples:\n${own.map((example) => `  ${example}`).join("\n")}\n`);
  for (const inner of command.commands) addExamples(inner, [...words, inner.name()]);
}
