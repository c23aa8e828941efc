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

/**
 * Investigates an address: collects evidence, scores it, and publishes a signed and anchored report. The report is a pure
 * function of evidence and narrative, so a job that resumes after a crash signs and anchors what it has published. Call
 * during setup. @throws the errors of Collect and Anchor.
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
    const assessment = assess(evidence);
    const { text, failure } = await call.step("narrative", () => narrate({ evidence, assessment }, host, call.signal));
    const missing = failure ? [...evidence.missing, failure] : evidence.missing;
    return handOut({ domain, evidence: { ...evidence, missing }, assessment, narrative: text }, call);
  };

  async function handOut(report: Report, { step, signal }: Call): Promise<Deliverable> {
    // The rendering libraries are loaded with the first report, to start faster.
    const [{ toReportMarkdown }, { toInvestigationPage }] = await Promise.all([
      import("./report/markdown.ts"),
      import("./report/page.ts"),
    ]);
    const { verdict, score, provisional } = report.assessment;
    const { subject, investigatedAt } = report.evidence;
    const [markdown, data] = [toReportMarkdown(report), toData(report)];
    const said = { address: subject.address, verdict, score, investigated_at: investigatedAt };
    const signed = await step("sign", () => seal({ domain, ...said, ...toDigests(markdown, data) }, { treasury }));
    const publish = (name: string, type: string, body: string): Promise<string> =>
      step(`publish ${name}`, () => reports.publish({ name, type: `${type}; charset=utf-8`, body }));
    const reportUrl = await publish("report.md", "text/markdown", markdown);
    const dataUrl = await publish("report.json", "application/json", data);
    const { merkle_root } = signed.statement;
    const anchored = await step("anchor", () => anchor.write(merkle_root, signal));
    const proof: Proof = { seal: signed, anchored, reportUrl, dataUrl };
    const pageUrl = await step("publish report.html", () => reports.publishPage(toInvestigationPage(report, proof)));
    return {
      reportUrl,
      reportJsonUrl: dataUrl,
      reportHtmlUrl: pageUrl,
      verdict,
      score,
      provisional,
      coverage: toCoverage(report.evidence),
      signedBy: signed.signer,
      signature: signed.signature,
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
