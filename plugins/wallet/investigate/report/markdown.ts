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
    `# Investigation of ${code(evidence.subject.address)}`,
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
  const { verdict, score, failedSources } = assessment;
  const [provisional, why] =
    failedSources === 0 ? ["", ""] : [" (provisional)", ` ${toFailed(failedSources)} failed, so that both may change.`];
  const lines = [
    `**Verdict: ${verdict}${provisional}.** Score **${score}** of 100 (higher is riskier), as of ${toMoment(evidence.investigatedAt)}.${why}`,
  ];
  if (narrative !== null)
    lines.push(`> *Written by a language model from the findings below:* ${escapeMarkdown(narrative)}`);
  return lines.join("\n\n");
}

const toFailed = (count: number): string => `${count} source${count === 1 ? "" : "s"}`;

function aboutReasons({ assessment: { reasons } }: Report): string {
  if (reasons.length === 0) return "## Reasons\n\nNothing was found that raises the score.";
  const rows = reasons.map(({ points, code: name, finding }) => [String(points), code(name), escapeMarkdown(finding)]);
  const rule =
    "The score is the sum of the points, at most 99 unless the address is sanctioned itself: low, medium from 30, high from 70, critical 100.";
  return `## Reasons\n\n${toMarkdownTable(["Points", "Reason", "Finding"], rows)}\n\n${rule}`;
}

function aboutMissing({ evidence: { missing } }: Report): string {
  if (missing.length === 0) return "## What is missing\n\nEvery source has answered.";
  const rows = missing.map(({ source, message }) => [escapeMarkdown(source), escapeMarkdown(message)]);
  return `## What is missing\n\nThe score rests on what could be read. These sources failed:\n\n${toMarkdownTable(["Source", "Why"], rows)}`;
}

function aboutVerification({ domain }: Report): string {
  return [
    "## How to verify",
    "`report_sha256` is the SHA-256 of `report.md` and `data_sha256` that of `report.json`; `merkle_root` is the SHA-256 of " +
      "the 64 bytes of both, in this order. The operator's signature (EIP-191) is over the JCS text (RFC 8785) of " +
      `\`{"domain":"${domain}",address,verdict,score,investigated_at,report_sha256,data_sha256,merkle_root}\`, whose ` +
      "other values stand in `report.json`. The merkle root is the calldata of a transaction on Base and the memo of one " +
      "on Solana.",
  ].join("\n\n");
}
