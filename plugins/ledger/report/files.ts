import type { Plugins, ReportFile } from "#plugin";
import type { LedgerAccount } from "../account.ts";
import type { ToChecksum } from "../checksums.ts";
import type { LedgerQuery } from "../request.ts";
import type { Summary } from "../summary.ts";
import { toCsv } from "./csv.ts";
import { type Heading, toLedgerMarkdown } from "./markdown.ts";
import { type PageContent, toPageContent } from "./page.ts";
import { toSha256 } from "./statement.ts";

/** The files of a report; at least one of the first two is present. */
export interface ReportFiles {
  readonly markdown: ReportFile | undefined;
  readonly csv: ReportFile | undefined;
  /** For the page, which is rendered when the proof is complete; null without markdown. */
  readonly page: PageContent | null;
}

export interface ReportContent {
  readonly query: LedgerQuery;
  readonly account: LedgerAccount;
  readonly summary: Summary;
  readonly heading: Omit<Heading, "csvSha256">;
  readonly format: Plugins["ledger"]["report"]["input"]["format"];
}

/** Renders a report; the same content gives the same bytes. */
export async function toFiles(content: ReportContent, toChecksum: ToChecksum): Promise<ReportFiles> {
  const { query, account, summary, heading, format } = content;
  const csv = format === "markdown" ? undefined : await toCsv(account.entries, query.wallet, toChecksum);
  const csvFile = csv === undefined ? undefined : { name: "transfers.csv", type: "text/csv; charset=utf-8", body: csv };
  if (format === "csv") return { markdown: undefined, csv: csvFile, page: null };
  const body = toLedgerMarkdown(summary, { ...heading, csvSha256: csv === undefined ? undefined : toSha256(csv) });
  return {
    markdown: { name: "report.md", type: "text/markdown; charset=utf-8", body },
    csv: csvFile,
    page: toPageContent(body, summary),
  };
}
