import type { AnchorReceipt, ReportPage, ReportResult } from "#plugin";
import type { Assessment } from "../score/score.ts";
import { drawGraph } from "./drawing.ts";
import { toMoment } from "./format.ts";
import { PICTURE, toReportMarkdown } from "./markdown.ts";
import type { Report } from "./report.ts";
import type { Seal } from "./seal.ts";
import { drawTree } from "./tree.ts";

/** The proof that the page shows beside the report. */
export interface Proof {
  readonly seal: Seal;
  readonly anchored: AnchorReceipt;
  readonly reportUrl: string;
  readonly dataUrl: string;
}

/** report.html: the report with picture and proof. */
export function toInvestigationPage(report: Report, proof: Proof): ReportPage {
  const { evidence, assessment } = report;
  const { graph, subject } = evidence;
  return {
    markdown: toReportMarkdown(report),
    results: toResults(report),
    note: toNote(assessment),
    figures:
      graph.nodes.length > 1
        ? [{ under: PICTURE, svg: drawGraph(graph, subject.address), narrow: drawTree(graph, subject.address) }]
        : [],
    ...toProof(proof),
  };
}

const DAY = "2026-09-10";

const CLEAN =
  "No source that was read gives a reason for concern. That is no proof of good faith: what no source knows is not in a report.";

const OPEN =
  "Too little could be read for a verdict: what is missing might change it. What was read, and what was not, stands at the end.";

function toNote({ verdict, reasons }: Assessment): string | undefined {
  if (verdict === "inconclusive") return OPEN;
  return reasons.length === 0 ? CLEAN : undefined;
}

const TONES: Readonly<Record<string, ReportResult["tone"]>> = {
  low: "good",
  medium: "fair",
  high: "bad",
  critical: "worst",
  inconclusive: "fair",
};

function toResults({ evidence, assessment }: Report): readonly ReportResult[] {
  const { verdict, score, provisional } = assessment;
  const tone = provisional && verdict === "low" ? "fair" : TONES[verdict];
  return [
    { label: provisional ? "Verdict (provisional)" : "Verdict", value: verdict, tone },
    {
      label: provisional ? "Risk score of 100, at least" : "Risk score of 100",
      value: String(score),
      tone,
      meter: score,
    },
    { label: "Direct counterparties", value: String(evidence.graph.counterparties) },
    { label: "As of", value: toMoment(evidence.investigatedAt).slice(0, DAY.length) },
  ];
}

function toProof({ seal, anchored, reportUrl, dataUrl }: Proof): Pick<ReportPage, "files" | "proof"> {
  const { statement, signer, signature } = seal;
  const { base, solana } = anchored;
  return {
    files: [
      { name: "report.md", url: reportUrl, sha256: statement.report_sha256 },
      { name: "report.json", url: dataUrl, sha256: statement.data_sha256 },
    ],
    proof: [
      { term: "Merkle root", value: statement.merkle_root },
      { term: "Signed by", value: signer },
      { term: "Signature (EIP-191)", value: signature },
      { term: "Anchored on Base", value: base.tx, url: base.explorer_url },
      { term: "Anchored on Solana", value: solana?.tx ?? "not anchored", url: solana?.explorer_url },
    ],
  };
}
