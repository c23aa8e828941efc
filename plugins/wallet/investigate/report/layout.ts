import { scaleLog } from "d3-scale";
import type { Graph, GraphNode } from "../evidence.ts";
import type { Flow } from "../flows.ts";

/** A node with its position. */
export interface Placed {
  readonly node: GraphNode;
  readonly x: number;
  readonly y: number;
  /** The direction of its label: degrees, clockwise from the right. */
  readonly angle: number;
}

/** All flows between two nodes, in both directions. */
export interface Line {
  readonly one: Placed;
  readonly other: Placed;
  /** In pixels, by the amount moved. */
  readonly width: number;
  readonly flows: readonly Flow[];
}

/** The graph as two rings around the subject. */
export interface GraphLayout {
  readonly placed: readonly Placed[];
  readonly lines: readonly Line[];
}

/** The radius of each hop's ring, in pixels. */
export const RADII = { 0: 0, 1: 190, 2: 350 } as const;
const WIDTHS = [1, 6] as const;

/**
 * Places the nodes on rings around (0, 0). The outer ring is sorted by the inner nodes that its nodes deal with, so
 * that few lines cross.
 */
export function toGraphLayout({ nodes, flows }: Graph): GraphLayout {
  const [first, second] = [nodes.filter(({ hop }) => hop === 1), nodes.filter(({ hop }) => hop === 2)];
  const order = new Map(first.map(({ address }, at) => [address, at]));
  const anchorOf = ({ address }: GraphNode): number => {
    const joined = flows.filter(({ from, to }) => from === address || to === address);
    const anchors = joined.flatMap(({ from, to }) => order.get(from) ?? order.get(to) ?? []);
    return Math.min(...anchors, first.length);
  };
  const around = [...second].sort((one, other) => anchorOf(one) - anchorOf(other));
  const placed = [
    ...nodes.filter(({ hop }) => hop === 0).map((node) => ({ node, x: 0, y: 0, angle: 0 })),
    ...place(first, RADII[1]),
    ...place(around, RADII[2]),
  ];
  return { placed, lines: toLines(placed, flows) };
}

/** Places nodes on a ring, clockwise from the top. */
function place(nodes: readonly GraphNode[], radius: number): Placed[] {
  return nodes.map((node, at) => {
    const angle = (360 * (at + 0.5)) / nodes.length - 90;
    const radians = (angle * Math.PI) / 180;
    return { node, x: round(radius * Math.cos(radians)), y: round(radius * Math.sin(radians)), angle: round(angle) };
  });
}

function toLines(placed: readonly Placed[], flows: readonly Flow[]): Line[] {
  const byAddress = new Map(placed.map((each) => [each.node.address, each]));
  const pairs = Map.groupBy(flows, ({ from, to }) => [from, to].sort().join(" "));
  const weights = [...pairs.values()].map(toWeight);
  const scale = scaleLog([1, Math.max(10, ...weights)], [...WIDTHS]);
  return [...pairs.values()].flatMap((between, at) => {
    const [one, other] = [byAddress.get(between[0]?.from ?? ""), byAddress.get(between[0]?.to ?? "")];
    return one && other ? [{ one, other, width: round(scale(weights[at] ?? 1)), flows: between }] : [];
  });
}

/** The weight of a line: USDC moved, or the number of transfers without USDC; at least 1. */
function toWeight(flows: readonly Flow[]): number {
  const dollars = flows.filter(({ asset }) => asset === "USDC").reduce((sum, { amount }) => sum + Number(amount), 0);
  return Math.max(1, dollars, ...flows.map(({ count }) => count));
}

const round = (value: number): number => Math.round(value * 10) / 10;
