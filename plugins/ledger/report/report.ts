import { type Call, type Host, isBlank, type Plugins, type ReportFile, type ReportPage } from "#plugin";
import { readLedger } from "../account.ts";
import { createToChecksum } from "../checksums.ts";
import type { ServiceRegistry } from "../registry.ts";
import { type LedgerQuery, toQuery } from "../request.ts";
import { SPEC_VERSION, summarize } from "../summary.ts";
import { toUsdc } from "../usdc.ts";
import { type ReportContent, type ReportFiles, toFiles } from "./files.ts";
import { type PageContent, type ReportProof, toLedgerPage } from "./page.ts";
import { type ReportSignature, sign, toSha256 } from "./statement.ts";

/** The request (schemas/LedgerReportRequest.json). */
type ReportRequest = Plugins["ledger"]["report"]["input"];
/** The deliverable of a report job (schemas/LedgerReportDeliverable.json). */
type LedgerDeliverable = Plugins["ledger"]["report"]["output"];
/** The URLs and hashes of the published files. */
type Published = Omit<LedgerDeliverable, "report_html_url" | "signature" | "anchor">;

/** The result of the first step. */
interface Written {
  readonly published: Published;
  readonly page: PageContent | null;
  readonly wallet: string;
  readonly range: { readonly from: string; readonly to: string };
}

export interface ReportDeps extends Pick<Host, "anchor" | "clock" | "reports" | "site" | "treasury"> {
  readonly node: ReturnType<Host["upstream"]>;
  readonly registry: ServiceRegistry;
}

/** The longest pause that a node may ask for; jobs can wait. */
const LONGEST_PAUSE_SECONDS = 60;
/** As many transfers as fit into one published file. */
const MOST_TRANSFERS = 75_000;

/**
 * Writes, publishes, signs and anchors a report. A job that resumes after a crash reuses its published files and anchors.
 * @throws Problem `invalid-input` when there are too many transfers; `upstream-failed`, `unavailable`; the signal's reason.
 */
export async function report(request: ReportRequest, call: Call, deps: ReportDeps): Promise<LedgerDeliverable> {
  const { anchor, site, treasury } = deps;
  const written = await call.step("write the report", () => write(request, call, deps));
  const { wallet, range, published, page } = written;
  const signature = await sign({ wallet, range, ...published }, site.name, treasury);
  const anchored = await call.step("anchor the report", async () => {
    const { base, solana } = await anchor.write(published.report_sha256, call.signal);
    return { base, solana };
  });
  const report_html_url = await call.step("publish the page", () =>
    publishPage({ page, published, signature, anchored }, deps),
  );
  const { base, solana } = anchored;
  return { ...published, report_html_url, signature, anchor: { base_tx: base.tx, solana_tx: solana?.tx ?? null } };
}

interface Proven {
  readonly page: PageContent | null;
  readonly published: Published;
  readonly signature: ReportSignature;
  readonly anchored: Pick<ReportProof, "base" | "solana">;
}

async function publishPage({ page, published, signature, anchored }: Proven, { reports }: ReportDeps) {
  if (page === null) return null;
  const { report_markdown_url, report_csv_url, report_sha256, csv_sha256 } = published;
  const files = [
    { name: "report.md", url: report_markdown_url, sha256: report_sha256 },
    { name: "transfers.csv", url: report_csv_url, sha256: csv_sha256 },
  ].filter((file): file is ReportPage["files"][number] => file.url !== null && file.sha256 !== null);
  return reports.publishPage(toLedgerPage(page, { files, signature, ...anchored }));
}

/**
 * One step, so that the published content is what is signed and anchored later, even if the chain has changed by then.
 */
async function write(request: ReportRequest, call: Call, deps: ReportDeps): Promise<Written> {
  const query = toQuery(request, deps.clock.now());
  const account = await readLedger(query, {
    node: deps.node,
    registry: deps.registry,
    clock: deps.clock,
    signal: call.signal,
    most: MOST_TRANSFERS,
    longestPauseSeconds: LONGEST_PAUSE_SECONDS,
    otherwise: "choose a shorter one",
    report: (progress) => call.report(progress),
  });
  call.report("writing the report");
  const toChecksum = await createToChecksum();
  const summary = await summarize(query, account, toChecksum);
  const heading = toHeading(request, query, deps.registry);
  const files = await toFiles({ query, account, summary, heading, format: request.format }, toChecksum);
  const { wallet, range } = summary;
  const published = await publish(files, deps);
  return { wallet, range: { from: range.from, to: range.to }, published, page: files.page };
}

function toHeading(
  { title, prepared_for }: ReportRequest,
  query: LedgerQuery,
  { version }: ServiceRegistry,
): ReportContent["heading"] {
  return {
    title: toShown(title),
    preparedFor: toShown(prepared_for),
    groupBy: query.groupBy,
    leastUsdc: toUsdc(query.least),
    withOthers: query.withOthers,
    registryVersion: version,
    specVersion: SPEC_VERSION,
  };
}

/** Null for a blank text, which would leave an empty heading. */
const toShown = (text: string | null | undefined): string | null => (text == null || isBlank(text) ? null : text);

async function publish({ markdown, csv }: ReportFiles, { reports, registry }: ReportDeps): Promise<Published> {
  const put = async (file: ReportFile | undefined): Promise<string | null> => (file ? reports.publish(file) : null);
  const csv_sha256 = csv ? toSha256(csv.body) : null;
  return {
    report_markdown_url: await put(markdown),
    report_csv_url: await put(csv),
    report_sha256: markdown ? toSha256(markdown.body) : toSha256(csv?.body ?? ""),
    csv_sha256,
    registry_version: registry.version,
    spec_version: SPEC_VERSION,
  };
}
