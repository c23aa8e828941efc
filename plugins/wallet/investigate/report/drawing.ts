import type { Graph, GraphNode } from "../evidence.ts";
import { escapeXml, toShortAddress } from "./format.ts";
import { type Line, type Placed, RADII, toGraphLayout } from "./layout.ts";

/** The look of a node: shape and colour both show the risk. */
type Mark = "subject" | "low" | "medium" | "high" | "critical" | "unknown";

/** The legend's texts, in its order. */
const MARKS: Readonly<Record<Mark, string>> = {
  subject: "subject",
  low: "nothing known against it",
  medium: "medium risk",
  high: "high risk",
  critical: "sanctioned",
  unknown: "not screened",
};

/** The picture's coordinates: rings around (0, 0), the legend below. */
const VIEW = { x: -520, y: -520, width: 1040, height: 1130 } as const;

/** Colours for light and dark pages; texts and lines have a contrast of at least 3:1. */
const STYLE = `
.graph{--ground:#fff;--ink:#1c2430;--faint:#66707f;--in:#0b7285;--out:#7048e8;--both:#495057;--low:#2b8a3e;--medium:#b35c00;--high:#c92a2a;--critical:#8b0000;--ring:#d5dae1;font:11px ui-sans-serif,system-ui,sans-serif}
@media (prefers-color-scheme:dark){.graph{--ground:#12161d;--ink:#e7ebf0;--faint:#98a3b3;--in:#3bc9db;--out:#b197fc;--both:#adb5bd;--low:#69db7c;--medium:#ffa94d;--high:#ff8787;--critical:#ff5c5c;--ring:#2c3440}}
.graph .ground{fill:var(--ground)}.graph .ring{fill:none;stroke:var(--ring)}.graph text{fill:var(--ink);stroke:var(--ground);stroke-width:3px;paint-order:stroke}.graph .far text{fill:var(--faint)}
.graph .line{fill:none;stroke-opacity:.75}.graph .in{stroke:var(--in)}.graph .out{stroke:var(--out);stroke-dasharray:7 4}.graph .both{stroke:var(--both);stroke-dasharray:2 3}.graph .beyond{stroke:var(--faint);stroke-opacity:.45}
.graph .mark{stroke:var(--ground);stroke-width:1.5}.graph .subject{fill:var(--ink)}.graph .low{fill:var(--low)}.graph .medium{fill:var(--medium)}.graph .high{fill:var(--high)}.graph .critical{fill:var(--critical)}.graph .unknown{fill:var(--ground);stroke:var(--faint);stroke-dasharray:2 2}
`.replaceAll("\n", "");

/** The graph as a self-contained SVG document, without script or fonts. The same graph gives the same text. */
export function drawGraph(graph: Graph, subject: string): string {
  const { placed, lines } = toGraphLayout(graph);
  const parts = [
    `<title>Counterparties of ${escapeXml(subject)}, two hops deep</title>`,
    `<style>${STYLE}</style>`,
    `<rect class="ground" x="${VIEW.x}" y="${VIEW.y}" width="${VIEW.width}" height="${VIEW.height}"/>`,
    `<circle class="ring" r="${RADII[1]}"/><circle class="ring" r="${RADII[2]}"/>`,
    ...lines.map((line) => drawLine(line, subject)),
    ...placed.map(drawNode),
    drawLegend(),
  ];
  const view = `${VIEW.x} ${VIEW.y} ${VIEW.width} ${VIEW.height}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="graph" viewBox="${view}" role="img">${parts.join("")}</svg>`;
}

function drawLine({ one, other, width, flows }: Line, subject: string): string {
  const say = flows.map(({ from, to, amount, asset, count }) => {
    const parties = `${toShortAddress(from)} to ${toShortAddress(to)}`;
    return `${parties}: ${amount} ${asset} in ${count} transfer${count === 1 ? "" : "s"}`;
  });
  const path = `M${one.x} ${one.y}L${other.x} ${other.y}`;
  return `<path class="line ${toDirection(flows, subject)}" stroke-width="${width}" d="${path}"><title>${escapeXml(say.join("; "))}</title></path>`;
}

/** The direction as seen from the subject. */
function toDirection(flows: Line["flows"], subject: string): "in" | "out" | "both" | "beyond" {
  const [isIn, isOut] = [flows.some(({ to }) => to === subject), flows.some(({ from }) => from === subject)];
  if (isIn && isOut) return "both";
  if (isIn) return "in";
  return isOut ? "out" : "beyond";
}

function drawNode({ node, x, y, angle }: Placed): string {
  const mark = toMark(node);
  const name = node.label ?? toShortAddress(node.address);
  const about = `${node.address}${node.label === null ? "" : ` (${node.label})`}: ${MARKS[mark]}`;
  const size = node.hop === 0 ? 16 : node.hop === 1 ? 9 : 6;
  return (
    `<g class="${node.hop === 2 ? "far" : "near"}" transform="translate(${x} ${y})"><title>${escapeXml(about)}</title>` +
    `${drawMark(mark, size)}${drawLabel(escapeXml(shorten(name)), node.hop, angle)}</g>`
  );
}

/** Labels point outwards and are never upside down. */
function drawLabel(text: string, hop: GraphNode["hop"], angle: number): string {
  if (hop === 0) return `<text y="34" text-anchor="middle" font-weight="bold">${text}</text>`;
  const isLeft = angle > 90;
  const turn = isLeft ? angle - 180 : angle;
  return `<text transform="rotate(${turn})" x="${isLeft ? -14 : 14}" dy=".35em" text-anchor="${isLeft ? "end" : "start"}">${text}</text>`;
}

function drawMark(mark: Mark, size: number): string {
  const half = size * 0.9;
  const diamond = `M0 ${-size}L${size} 0L0 ${size}L${-size} 0Z`;
  const triangle = `M0 ${-size}L${size} ${half}L${-size} ${half}Z`;
  const square = `M${-half} ${-half}H${half}V${half}H${-half}Z`;
  const paths: Partial<Record<Mark, string>> = { medium: diamond, high: triangle, critical: square };
  const path = paths[mark];
  if (!path) return `<circle class="mark ${mark}" r="${size}"/>`;
  const cross =
    mark === "critical"
      ? `<path class="mark" d="M${-half} ${-half}L${half} ${half}M${-half} ${half}L${half} ${-half}"/>`
      : "";
  return `<path class="mark ${mark}" d="${path}"/>${cross}`;
}

const toMark = ({ hop, screened }: GraphNode): Mark =>
  hop === 0 && screened?.risk_level === "low" ? "subject" : (screened?.risk_level ?? "unknown");

function drawLegend(): string {
  const marks = Object.entries(MARKS).map(([mark, words]) => ({ sign: drawMark(mark as Mark, 8), words, at: 16 }));
  const lines = Object.entries(LINES).map(([direction, words]) => {
    return { sign: `<path class="line ${direction}" stroke-width="3" d="M-8 0H32"/>`, words, at: 42 };
  });
  return drawRow(marks, 545) + drawRow(lines, 580);
}

/** A centred row of signs with their texts. */
function drawRow(row: readonly { readonly sign: string; readonly words: string; readonly at: number }[], y: number) {
  const widths = row.map(({ words, at }) => at + 6 * words.length + 34);
  const whole = widths.reduce((sum, width) => sum + width, 0);
  return row
    .map(({ sign, words, at }, index) => {
      const x = widths.slice(0, index).reduce((sum, width) => sum + width, -whole / 2);
      return `<g transform="translate(${x} ${y})">${sign}<text x="${at}" dy=".35em">${words}</text></g>`;
    })
    .join("");
}

const LINES = {
  in: "the subject received",
  out: "the subject sent",
  both: "it did both",
  beyond: "between others",
} as const;

const shorten = (name: string): string => (name.length > 20 ? `${name.slice(0, 19)}…` : name);
