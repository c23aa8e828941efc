import { marked } from "marked";
import sanitize from "sanitize-html";
import type { ReportSignature } from "./statement.ts";

/** What the page is made of. Plain JSON: a job step stores it. */
export interface PageContent {
  readonly markdown: string;
  /** An SVG element. */
  readonly chart: string;
  readonly step: "day" | "week";
}

/** A transaction with its page at an explorer. */
export interface AnchoredTx {
  readonly tx: string;
  readonly explorer_url: string;
}

/** How the report can be checked. */
export interface ReportProof {
  readonly markdownUrl: string;
  readonly csvUrl: string | null;
  readonly reportSha256: string;
  readonly csvSha256: string | null;
  readonly signature: ReportSignature;
  readonly base: AnchoredTx;
  readonly solana: AnchoredTx | null;
}

/** Elements that the markdown can produce. None can link to or load anything. */
const ALLOWED = {
  allowedTags: ["h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code"],
  allowedAttributes: { th: ["align"], td: ["align"] },
};

/** An HTML page without script: the markdown, with the chart before its first section, and the proof. */
export function toLedgerPage({ markdown, chart, step }: PageContent, proof: ReportProof): string {
  const html = sanitize(marked.parse(markdown, { async: false, gfm: true }), ALLOWED)
    .replaceAll("<table>", '<div class="wide"><table>')
    .replaceAll("</table>", "</table></div>");
  const heading = /<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? "";
  const figure = `<figure>${chart}<figcaption>USDC by ${step}</figcaption></figure>\n<h2>`;
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="robots" content="noindex">',
    `<title>${heading}</title>\n<style>${STYLE}</style>\n</head>`,
    `<body>\n<main>\n${html.replace("<h2>", () => figure)}${toProof(proof)}</main>\n</body>\n</html>\n`,
  ].join("\n");
}

function toProof({ markdownUrl, csvUrl, reportSha256, csvSha256, signature, base, solana }: ReportProof): string {
  const files = [toLink(markdownUrl, "report.md"), ...(csvUrl === null ? [] : [toLink(csvUrl, "transfers.csv")])];
  const rows: readonly (readonly [string, string])[] = [
    ["Files", files.join(", ")],
    ["SHA-256 of report.md", reportSha256],
    ...(csvSha256 === null ? [] : [["SHA-256 of transfers.csv", csvSha256] as const]),
    ["Signed by", signature.signer],
    ["Signature (EIP-191)", signature.value],
    ["Signed text", escapeHtml(signature.message).replaceAll("\n", "<br>")],
    ["On Base", toLink(base.explorer_url, base.tx)],
    ["On Solana", solana ? toLink(solana.explorer_url, solana.tx) : "not anchored"],
  ];
  const list = rows.map(([term, value]) => `<dt>${term}</dt><dd>${value}</dd>`).join("\n");
  return `<h2>Proof</h2>\n<dl>\n${list}\n</dl>\n`;
}

const toLink = (url: string, text: string): string => `<a href="${escapeHtml(url)}">${escapeHtml(text)}</a>`;

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

const STYLE = `
:root { color-scheme: light dark; --ground: #fbfaf6; --text: #1d1c19; --quiet: #5c584f; --line: #dcd7ca; --bar: #0b5d44; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #141412; --text: #eceae3; --quiet: #aba698; --line: #3a3831; --bar: #63d2a9; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
main { max-width: 72rem; margin-inline: auto; padding: 1rem clamp(1rem, 4vw, 2rem) 3rem; }
h1 { font-size: 1.8rem; line-height: 1.25; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; }
figure, .wide { margin: 1rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.35rem 0.9rem 0.35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td { min-width: 6.4rem; overflow-wrap: anywhere; }
td:nth-child(n + 3) { white-space: nowrap; }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
[align="right"] { text-align: right; }
code { font: 0.85em ui-monospace, Menlo, Consolas, monospace; }
svg { display: block; width: 100%; max-width: 56rem; height: auto; }
svg text { fill: var(--quiet); font: 12px system-ui, sans-serif; }
@media (max-width: 40rem) { svg text { font-size: 19px; } }
.bar { fill: var(--bar); }
.line { stroke: var(--line); }
a { color: var(--bar); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.3rem 1rem; font-size: 0.9rem; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.5rem; } }
@media print { body { background: none; } .wide { overflow: visible; } }
figcaption { color: var(--quiet); font-size: 0.9rem; }
`;
