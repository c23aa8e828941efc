import { marked } from "marked";
import sanitize from "sanitize-html";

/** Elements that the markdown can produce. None can link to or load anything. */
const ALLOWED = {
  allowedTags: ["h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code"],
  allowedAttributes: { th: ["align"], td: ["align"] },
};

/** An HTML page without script: the markdown, with the chart before its first section. */
export function toLedgerPage(markdown: string, chart: string, step: "day" | "week"): string {
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
    `<body>\n<main>\n${html.replace("<h2>", () => figure)}</main>\n</body>\n</html>\n`,
  ].join("\n");
}

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
figcaption { color: var(--quiet); font-size: 0.9rem; }
`;
