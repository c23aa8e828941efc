import type { Graph, GraphNode } from "../evidence.ts";
import { escapeXml, toShortAddress } from "./format.ts";
import { type Line, type Placed, RADII, toGraphLayout } from "./layout.ts";
import { drawMark, GRAPH_STYLE, LINES, MARKS, type Mark, shorten, toDirection, toMark } from "./marks.ts";

/** The picture's coordinates: rings around (0, 0), the legend below. */
const VIEW = { x: -520, y: -520, width: 1040, height: 1130 } as const;

/** The graph as a self-contained SVG document, without script or fonts. The same graph gives the same text. */
export function drawGraph(graph: Graph, subject: string): string {
  const { placed, lines } = toGraphLayout(graph);
  const parts = [
    `<title>Counterparties of ${escapeXml(subject)}, two hops deep</title>`,
    `<style>${GRAPH_STYLE}</style>`,
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
  if (hop === 0) return `<text y="36" text-anchor="middle" font-weight="bold">${text}</text>`;
  const isLeft = angle > 90;
  const turn = isLeft ? angle - 180 : angle;
  return `<text transform="rotate(${turn})" x="${isLeft ? -14 : 14}" dy=".35em" text-anchor="${isLeft ? "end" : "start"}">${text}</text>`;
}

function drawLegend(): string {
  const marks = Object.entries(MARKS).map(([mark, words]) => ({ sign: drawMark(mark as Mark, 8), words, at: 16 }));
  const lines = Object.entries(LINES).map(([direction, words]) => {
    return { sign: `<path class="line ${direction}" stroke-width="3" d="M-8 0H32"/>`, words, at: 42 };
  });
  return drawRow(marks, 545) + drawRow(lines, 580);
}

/** A centred row of signs with their texts. */
function drawRow(row: readonly { readonly sign: string; readonly words: string; readonly at: number }[], y: number) {
  const widths = row.map(({ words, at }) => at + 8 * words.length + 30);
  const whole = widths.reduce((sum, width) => sum + width, 0);
  return row
    .map(({ sign, words, at }, index) => {
      const x = widths.slice(0, index).reduce((sum, width) => sum + width, -whole / 2);
      return `<g transform="translate(${x} ${y})">${sign}<text x="${at}" dy=".35em">${words}</text></g>`;
    })
    .join("");
}
