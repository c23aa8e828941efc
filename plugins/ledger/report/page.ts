import type { ReportFigure, ReportPage, ReportResult } from "#plugin";
import type { Summary } from "../summary.ts";
import { toChart } from "./chart.ts";
import { toDailyTitle } from "./markdown.ts";
import type { ReportSignature } from "./statement.ts";

/** The part of the page that is known when the files are written. Plain JSON, because a job step stores it. */
export type PageContent = Omit<ReportPage, "files" | "proof">;

/** A transaction with its page at an explorer. */
export interface AnchoredTx {
  readonly tx: string;
  readonly explorer_url: string;
}

export interface ReportProof {
  readonly files: ReportPage["files"];
  readonly signature: ReportSignature;
  readonly base: AnchoredTx;
  readonly solana: AnchoredTx | null;
}

/** The totals and the chart beside the markdown. */
export function toPageContent(markdown: string, summary: Summary): PageContent {
  const { totals, daily, granularity } = summary;
  const hasTransfers = totals.tx_count > 0;
  return {
    markdown,
    results: toResults(summary),
    figures: hasTransfers ? [toFigure(daily, granularity)] : [],
    note: hasTransfers
      ? undefined
      : "No transfer in the range fits the question. That is an answer, too: it is signed.",
  };
}

const toFigure = (daily: Summary["daily"], granularity: Summary["granularity"]): ReportFigure => ({
  under: toDailyTitle(granularity),
  svg: toChart(daily, "broad"),
  narrow: toChart(daily, "narrow"),
  caption: `USDC by ${granularity}`,
});

function toResults({ totals, direction }: Summary): readonly ReportResult[] {
  const { usdc, usdc_outbound, usdc_inbound, tx_count, unique_recipients, identified_pct } = totals;
  const sums =
    direction === "both" && usdc_outbound !== undefined && usdc_inbound !== undefined
      ? [
          { label: "Spent", value: `${usdc_outbound} USDC` },
          { label: "Received", value: `${usdc_inbound} USDC` },
        ]
      : [{ label: direction === "inbound" ? "Received" : "Spent", value: `${usdc} USDC` }];
  return [
    ...sums,
    { label: "Transfers", value: String(tx_count) },
    { label: "Recipients", value: String(unique_recipients) },
    { label: "Identified by the registry", value: `${identified_pct} %` },
  ];
}

/** Renders the page last, because it shows the signature and the anchors. The page itself is not signed. */
export function toLedgerPage(content: PageContent, { files, signature, base, solana }: ReportProof): ReportPage {
  return {
    ...content,
    files,
    proof: [
      { term: "Signed by", value: signature.signer },
      { term: "Signature (EIP-191)", value: signature.value },
      { term: "Signed text", value: signature.message },
      { term: "Anchored on Base", value: base.tx, url: base.explorer_url },
      { term: "Anchored on Solana", value: solana?.tx ?? "not anchored", url: solana?.explorer_url },
    ],
  };
}
