import type { Graph, GraphNode } from "../evidence.ts";
import type { Flow } from "../flows.ts";
import { escapeXml, toShortAddress } from "./format.ts";
import { drawMark, GRAPH_STYLE, LINES, MARKS, type Mark, shorten, toDirection, toMark } from "./marks.ts";

/** A row of the tree; the y coordinates of the nodes in pixels. */
interface Row {
  readonly node: GraphNode;
  readonly y: number;
  /** The row of its parent; undefined for the subject. */
  readonly above: Row | undefined;
}

/** The width of a phone, so that the picture's texts are about as large as the page's there. */
const WIDTH = 360;
const HEIGHTS = { 0: 40, 1: 44, 2: 26 } as const;
const INDENTS = { 0: 20, 1: 44, 2: 76 } as const;
const SIZES = { 0: 12, 1: 9, 2: 6 } as const;
const LEGEND_STEP = 24;

/**
 * The graph for narrow screens, as an SVG element: a tree in which each address is below an address that it dealt with.
 */
export function drawTree(graph: Graph, subject: string): string {
  const rows = toRows(graph);
  const bottom = (rows.at(-1)?.y ?? 0) + 40;
  const flowsOf = toFlowsOf(graph.flows);
  const height = bottom + (Math.max(Object.keys(MARKS).length, Object.keys(LINES).length) + 0.5) * LEGEND_STEP;
  const parts = [
    `<title>Counterparties of ${escapeXml(subject)}, two hops deep</title>`,
    `<style>${GRAPH_STYLE}</style>`,
    ...rows.map((row) => drawBranch(row, flowsOf, subject)),
    ...rows.map((row) => drawRow(row, flowsOf)),
    drawLegend(bottom),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" class="graph tree" viewBox="0 0 ${WIDTH} ${height}" role="img">${parts.join("")}</svg>`;
}

/** The subject, each direct counterparty, and below each the second-hop addresses that dealt with it. */
function toRows({ nodes, flows }: Graph): readonly Row[] {
  const joined = new Set(flows.flatMap(({ from, to }) => [`${from} ${to}`, `${to} ${from}`]));
  const placed = new Set<GraphNode>();
  const rows: Row[] = [];
  const add = (node: GraphNode, above: Row | undefined): Row => {
    const before = rows.at(-1);
    const row = { node, y: (before?.y ?? -10) + HEIGHTS[node.hop], above };
    placed.add(node);
    rows.push(row);
    return row;
  };
  const subject = nodes.find(({ hop }) => hop === 0);
  const top = subject && add(subject, undefined);
  for (const node of nodes.filter(({ hop }) => hop === 1)) {
    const row = add(node, top);
    for (const far of nodes.filter((each) => each.hop === 2 && !placed.has(each)))
      if (joined.has(`${far.address} ${node.address}`)) add(far, row);
  }
  return rows;
}

type FlowsOf = (one: string, other: string) => readonly Flow[];

function toFlowsOf(flows: readonly Flow[]): FlowsOf {
  const toKey = (one: string, other: string): string => [one, other].sort().join(" ");
  const byPair = Map.groupBy(flows, ({ from, to }) => toKey(from, to));
  return (one, other) => byPair.get(toKey(one, other)) ?? [];
}

function drawBranch({ node, y, above }: Row, flowsOf: FlowsOf, subject: string): string {
  if (!above) return "";
  const [x, to] = [INDENTS[above.node.hop], INDENTS[node.hop]];
  const direction = toDirection(flowsOf(node.address, above.node.address), subject);
  return `<path class="line ${direction}" stroke-width="${node.hop === 1 ? 2 : 1.5}" d="M${x} ${above.y}V${y}H${to}"/>`;
}

function drawRow({ node, y, above }: Row, flowsOf: FlowsOf): string {
  const { hop, address, label } = node;
  const mark = toMark(node);
  const about = `${address}${label === null ? "" : ` (${label})`}: ${MARKS[mark]}`;
  const x = INDENTS[hop] + SIZES[hop] + 8;
  const moved = hop === 1 && above ? toMoved(flowsOf(address, above.node.address), address) : "";
  const name = escapeXml(shorten(label ?? toShortAddress(address)));
  const detail = moved === "" ? "" : `<text class="moved" x="${x}" y="${y + 13}">${escapeXml(moved)}</text>`;
  return (
    `<g class="hop${hop}"><title>${escapeXml(about)}</title><g transform="translate(${INDENTS[hop]} ${y})">${drawMark(mark, SIZES[hop])}</g>` +
    `<text x="${x}" y="${y + (detail === "" ? 4 : -3)}">${name}</text>${detail}</g>`
  );
}

/** What a counterparty paid and was paid, in short: `paid 1.2K USDC, got 0.5 ETH`. */
function toMoved(flows: readonly Flow[], address: string): string {
  const say = (own: readonly Flow[]): string =>
    own.map(({ amount, asset }) => `${toBrief(amount)} ${asset}`).join(" + ");
  const paid = say(flows.filter(({ from }) => from === address));
  const got = say(flows.filter(({ to }) => to === address));
  return [paid && `paid ${paid}`, got && `got ${got}`].filter((part) => part !== "").join(", ");
}

const BRIEF = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });

/** Rounded, because the table has the exact amounts. */
const toBrief = (amount: string): string => BRIEF.format(Number(amount));

function drawLegend(top: number): string {
  const marks = Object.entries(MARKS).map(([mark, words], at) => drawEntry(drawMark(mark as Mark, 7), words, [20, at]));
  const lines = Object.entries(LINES).map(([direction, words], at) => {
    return drawEntry(`<path class="line ${direction}" stroke-width="2" d="M-12 0H12"/>`, words, [206, at]);
  });
  return `<g class="legend" transform="translate(0 ${top})">${[...marks, ...lines].join("")}</g>`;
}

const drawEntry = (sign: string, words: string, [x, at]: readonly [number, number]): string =>
  `<g transform="translate(${x} ${at * LEGEND_STEP})">${sign}<text x="18" y="4">${words}</text></g>`;
