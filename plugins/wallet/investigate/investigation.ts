import type { Call, Host, Plugins } from "#plugin";
import type { Screening } from "../screen/screening.ts";
import { createCollect } from "./collection/collection.ts";
import type { Evidence } from "./evidence.ts";
import { narrate } from "./narrative.ts";
import type { Proof } from "./report/page.ts";
import { DISCLAIMER, type Report, toData } from "./report/report.ts";
import { seal, toDigests } from "./report/seal.ts";
import { assess } from "./score/score.ts";
import { readSubject } from "./subject.ts";

/** The deliverable of a /v1/investigate job (schemas/InvestigateDeliverable.json). */
type Deliverable = Required<Plugins["wallet"]["investigate"]["output"]>;

/** What was published, with the seal over it. */
type Written = Omit<Proof, "anchored">;

/**
 * Investigates an address: collects evidence, scores it, and publishes a signed and anchored report. Call during setup.
 * @throws the errors of Collect and Anchor.
 */
export function createInvestigate(
  host: Host,
  screening: Screening,
): (address: string, call: Call) => Promise<Deliverable> {
  const collect = createCollect(host, screening);
  const { anchor, reports, treasury } = host;
  const domain = `${host.site.name}/investigate/v1`;

  return async (address, call) => {
    const evidence = await call.step("evidence", () => collect(readSubject(address), address, call));
    const assessment = await call.step("assessment", async () => assess(evidence));
    const { text, failure } = await call.step("narrative", () => narrate({ evidence, assessment }, host, call));
    const missing = failure ? [...evidence.missing, failure] : evidence.missing;
    return handOut({ domain, evidence: { ...evidence, missing }, assessment, narrative: text }, call);
  };

  /** One step, so that what is published is what is signed, though the shop's name or version has changed at a restart. */
  async function write(report: Report): Promise<Written> {
    const { toReportMarkdown } = await import("./report/markdown.ts");
    const [markdown, data] = [toReportMarkdown(report), toData(report)];
    const { verdict, score } = report.assessment;
    const { subject, investigatedAt } = report.evidence;
    const said = { address: subject.address, verdict, score, investigated_at: investigatedAt };
    const signed = await seal({ domain: report.domain, ...said, ...toDigests(markdown, data) }, { treasury });
    const publish = (name: string, type: string, body: string): Promise<string> =>
      reports.publish({ name, type: `${type}; charset=utf-8`, body });
    const reportUrl = await publish("report.md", "text/markdown", markdown);
    const dataUrl = await publish("report.json", "application/json", data);
    return { seal: signed, reportUrl, dataUrl };
  }

  async function handOut(report: Report, { step, signal }: Call): Promise<Deliverable> {
    const { verdict, score, provisional } = report.assessment;
    const written = await step("publish the report", () => write(report));
    const { signer, signature, statement } = written.seal;
    const { merkle_root } = statement;
    const anchored = await step("anchor the report", () => anchor.write(merkle_root, signal));
    // The rendering libraries are loaded with the first report, to start faster.
    const { toInvestigationPage } = await import("./report/page.ts");
    const page = toInvestigationPage({ ...report, domain: statement.domain }, { ...written, anchored });
    const pageUrl = await step("publish the page", () => reports.publishPage(page));
    return {
      reportUrl: written.reportUrl,
      reportJsonUrl: written.dataUrl,
      reportHtmlUrl: pageUrl,
      verdict,
      score,
      provisional,
      coverage: toCoverage(report.evidence),
      signedBy: signer,
      signature,
      merkleRoot: merkle_root,
      baseAnchorTx: anchored.base.tx,
      solanaAnchorTx: anchored.solana?.tx ?? null,
      disclaimer: DISCLAIMER,
    };
  }
}

/** Coverage and missing parts in one list. */
const toCoverage = ({ coverage, missing }: Evidence): Deliverable["coverage"] => [
  ...coverage.map((each) => ({ ...each, missing: null })),
  ...missing.map(({ source, message }) => ({ source, covers: null, whole: false, missing: message })),
];
