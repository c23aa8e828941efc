import { PRICES } from "../score/exposures.ts";
import { RULES, type Rule } from "../score/rules.ts";
import type { Assessment } from "../score/score.ts";
import { chainOf } from "../subject.ts";
import { drawGraph } from "./drawing.ts";
import { code, escapeMarkdown, toMarkdownTable, toMoment } from "./format.ts";
import { aboutGraph, aboutHistory, aboutIdentity, aboutScreening } from "./markdown-findings.ts";
import { DISCLAIMER, type Report } from "./report.ts";

/** The picture's heading and alternative text. */
export const PICTURE = "Counterparty graph";

/** report.md. The picture is a data URL at its end. */
export function toReportMarkdown(report: Report): string {
  const { evidence } = report;
  const [picture, drawing] = evidence.graph.nodes.length > 1 ? toPicture(evidence) : ["", ""];
  const sections = [
    `# Investigation of ${code(evidence.subject.address)} on ${chainOf(evidence.subject)}`,
    aboutVerdict(report),
    aboutReasons(report),
    ...aboutScreening(evidence),
    ...aboutHistory(evidence),
    ...aboutIdentity(evidence),
    `## ${PICTURE}`,
    picture,
    ...aboutGraph(evidence),
    aboutMissing(report),
    aboutVerification(report),
    `## Disclaimer\n\n${DISCLAIMER}`,
    drawing,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** The picture's reference and its definition. */
function toPicture({ graph, subject }: Report["evidence"]): [place: string, drawing: string] {
  const drawing = Buffer.from(drawGraph(graph, subject.address)).toString("base64");
  return [`![${PICTURE}][graph]`, `[graph]: data:image/svg+xml;base64,${drawing}`];
}

function aboutVerdict({ evidence, assessment, narrative }: Report): string {
  const { verdict, score, provisional } = assessment;
  const isOpen = verdict === "inconclusive";
  const mark = provisional && !isOpen ? " (provisional)" : "";
  const points = isOpen ? `At least **${score}** of 100` : `Score **${score}** of 100`;
  const lines = [
    `**Verdict: ${verdict}${mark}.** ${points} (higher is riskier), as of ${toMoment(evidence.investigatedAt)}.${toWhy(assessment)}${toLimit(evidence)}`,
  ];
  if (narrative !== null)
    lines.push(`> *Written by a language model from the findings below:* ${escapeMarkdown(narrative)}`);
  return lines.join("\n\n");
}

/** An EVM address is one on every EVM chain, and may be in use on others alone. */
const toLimit = ({ subject }: Report["evidence"]): string =>
  subject.family === "evm"
    ? " Of its transfers those of USDC and ETH on Base were looked at: none of other tokens, and none on other chains."
    : " Of its transfers those of USDC and SOL were looked at: none of other tokens.";

function toWhy({ verdict, provisional }: Assessment): string {
  if (verdict === "inconclusive")
    return " What could not be read might change the verdict: see what is missing below, and ask again later.";
  return provisional ? " Not everything was read: the score may be higher." : "";
}

function aboutReasons({ evidence, assessment: { reasons } }: Report): string {
  const rows = reasons.map(({ points, most, code: name, finding }) => [
    `${points} of ${most}`,
    code(name),
    escapeMarkdown(finding),
  ]);
  const found = new Set(reasons.map((reason) => reason.code));
  const rest = Map.groupBy(
    RULES.filter((rule) => !found.has(rule.code)),
    ({ canTell }) => canTell?.(evidence) ?? true,
  );
  const list = (rules: readonly Rule[] = []): string => rules.map(({ about, most }) => `${about} (${most})`).join("; ");
  const [absent, open] = [list(rest.get(true)), list(rest.get(false))];
  return [
    "## Reasons",
    rows.length > 0
      ? toMarkdownTable(["Points", "Reason", "Finding"], rows)
      : "Nothing was found that raises the score.",
    ...(absent === "" ? [] : [`Looked for and not found, with the most points that it gives: ${absent}.`]),
    ...(open === "" ? [] : [`No source that was read can tell: ${open}.`]),
    "The score is the sum of the points, at most 99 unless the address is sanctioned itself: low, medium from 30, high from " +
      "70, critical 100. It is inconclusive when what could not be read might lead to another level. Dollars are rough: ETH " +
      `counts as ${PRICES.ETH}, SOL as ${PRICES.SOL}.`,
  ].join("\n\n");
}

function aboutMissing({ evidence: { coverage, missing } }: Report): string {
  const read = coverage.map(({ source, covers, whole }) => [
    escapeMarkdown(source),
    escapeMarkdown(covers),
    toWord(whole),
  ]);
  const rows = missing.map(({ source, message, atStake }) => [
    escapeMarkdown(source),
    escapeMarkdown(message),
    atStake === 0 ? "nothing" : `up to ${atStake} points`,
  ]);
  return [
    "## What was read",
    toMarkdownTable(["Source", "Read", "All of it"], read),
    "## What is missing",
    rows.length > 0 ? toMarkdownTable(["Source", "Why", "May hide"], rows) : "Every source has answered.",
  ].join("\n\n");
}

const toWord = (isWhole: boolean): string => (isWhole ? "yes" : "no");

function aboutVerification({ domain }: Report): string {
  return [
    "## How to verify",
    "`report_sha256` is the SHA-256 of `report.md` and `data_sha256` that of `report.json`; `merkle_root` is the SHA-256 of " +
      "the 64 bytes of both, in this order. The operator's signature (EIP-191) is over the JCS text (RFC 8785) of " +
      `\`{"domain":"${domain}",address,verdict,score,investigated_at,report_sha256,data_sha256,merkle_root}\`, whose ` +
      "other values stand in `report.json`: `address` as `subject.address`, `investigated_at` as `investigatedAt`. The " +
      "merkle root is the calldata of a transaction on Base and the memo of one on Solana.",
  ].join("\n\n");
}
