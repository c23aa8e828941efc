import { marked } from "marked";
import sanitizeHtml from "sanitize-html";
import type { AnchorReceipt } from "#plugin";
import { drawGraph } from "./drawing.ts";
import { escapeXml } from "./format.ts";
import { PICTURE, toReportMarkdown } from "./markdown.ts";
import type { Report } from "./report.ts";
import type { Seal } from "./seal.ts";

/** The proof that the page shows beside the report. */
export interface Proof {
  readonly seal: Seal;
  readonly anchored: AnchorReceipt;
  readonly reportUrl: string;
  readonly dataUrl: string;
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1c2430;--ground:#fff;--faint:#5b6675;--line:#dfe4ea;--soft:#f5f7f9;--link:#1864ab;--low:#2b8a3e;--medium:#b35c00;--high:#c92a2a;--critical:#8b0000}
@media (prefers-color-scheme:dark){:root{--ink:#e7ebf0;--ground:#12161d;--faint:#98a3b3;--line:#2c3440;--soft:#1a202a;--link:#74c0fc;--low:#69db7c;--medium:#ffa94d;--high:#ff8787;--critical:#ff5c5c}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 ui-sans-serif,system-ui,sans-serif}
main{max-width:64rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.5rem;overflow-wrap:anywhere}h2{margin-top:2.2rem;border-bottom:1px solid var(--line);padding-bottom:.3rem;font-size:1.2rem}h3{font-size:1rem}
a{color:var(--link)}code{font:.82em ui-monospace,monospace;overflow-wrap:anywhere}blockquote{margin:1rem 0;padding:.2rem 1rem;border-left:4px solid var(--line);background:var(--soft)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{border-bottom:1px solid var(--line);padding:.4rem .6rem;text-align:left;vertical-align:top}th{color:var(--faint);font-weight:600}td:first-child{white-space:nowrap}td code{white-space:normal}td:nth-child(2){min-width:6.5rem}td:has(code){min-width:9rem}
.meter{height:.7rem;border-radius:.4rem;background:var(--line);overflow:hidden}.meter i{display:block;height:100%}.low i{background:var(--low)}.medium i{background:var(--medium)}.high i{background:var(--high)}.critical i{background:var(--critical)}
svg.graph{width:100%;height:auto;display:block}dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}dt{color:var(--faint)}dd{margin:0;overflow-wrap:anywhere}
@media (max-width:40rem){dl{grid-template-columns:1fr}dd{margin-bottom:.5rem}}
`;

/** report.html: the report with picture and proof. It runs no script and loads nothing. */
export function toReportPage(report: Report, proof: Proof): string {
  const { evidence, assessment } = report;
  const { address } = evidence.subject;
  const meter = `<div class="meter ${assessment.verdict}" role="img" aria-label="${assessment.score} of 100"><i style="width:${assessment.score}%"></i></div>`;
  const body = toHtml(report).replace(/<p><strong>Verdict/, (start) => meter + start);
  return [
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Investigation of ${escapeXml(address)}</title><style>${STYLE}</style></head>`,
    `<body><main>${body}${toProof(proof)}</main></body></html>\n`,
  ].join("\n");
}

/** The Markdown as sanitized HTML, with the picture as inline SVG. */
function toHtml(report: Report): string {
  const { graph, subject } = report.evidence;
  const html = sanitizeHtml(marked.parse(toReportMarkdown(report), { async: false, gfm: true }), {
    allowedTags: [...sanitizeHtml.defaults.allowedTags, "img"],
    allowedAttributes: { img: ["alt"] },
  });
  return html
    .replace(`<p><img alt="${PICTURE}" /></p>`, () => drawGraph(graph, subject.address))
    .replaceAll("<table>", '<div class="scroll"><table>')
    .replaceAll("</table>", "</table></div>");
}

function toProof({ seal, anchored, reportUrl, dataUrl }: Proof): string {
  const { statement, signer, signature } = seal;
  const link = (url: string, text: string): string => `<a href="${escapeXml(url)}">${escapeXml(text)}</a>`;
  const entries = [
    ["Files", `${link(reportUrl, "report.md")}, ${link(dataUrl, "report.json")}`],
    ["SHA-256 of report.md", escapeXml(statement.report_sha256)],
    ["SHA-256 of report.json", escapeXml(statement.data_sha256)],
    ["Merkle root", escapeXml(statement.merkle_root)],
    ["Signed by", escapeXml(signer)],
    ["Signature", escapeXml(signature)],
    ["On Base", link(anchored.base.explorer_url, anchored.base.tx)],
    ["On Solana", anchored.solana ? link(anchored.solana.explorer_url, anchored.solana.tx) : "not anchored"],
  ];
  const list = entries.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join("");
  return `<h2>Proof</h2><dl>${list}</dl>`;
}
