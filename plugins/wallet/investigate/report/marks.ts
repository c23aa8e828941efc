import type { GraphNode } from "../evidence.ts";
import type { Flow } from "../flows.ts";

/** The look of a node: shape and colour both show the risk. */
export type Mark = "subject" | "low" | "medium" | "high" | "critical" | "unknown";

/** The legend's texts, in its order. */
export const MARKS: Readonly<Record<Mark, string>> = {
  subject: "subject",
  low: "nothing known against it",
  medium: "medium risk",
  high: "high risk",
  critical: "sanctioned",
  unknown: "not screened",
};

/** The legend's texts for lines, by their direction. */
export const LINES = {
  in: "the subject received",
  out: "the subject sent",
  both: "it did both",
  beyond: "between others",
} as const;

/** Colours for light and dark screens, and for paper; texts and lines have a contrast of at least 3:1. */
export const GRAPH_STYLE = `
.graph{--ground:#fbfaf6;--ink:#1d1c19;--faint:#5c584f;--in:#0b6b80;--out:#6741d9;--both:#4a4740;--low:#0b5d44;--medium:#8a5a00;--high:#a3281e;--critical:#8b0000;--ring:#dcd7ca;font:15px ui-sans-serif,system-ui,sans-serif}
@media screen and (prefers-color-scheme:dark){.graph{--ground:#141412;--ink:#eceae3;--faint:#aba698;--in:#3bc9db;--out:#b197fc;--both:#c9c4b6;--low:#63d2a9;--medium:#f2b84b;--high:#ff9c8f;--critical:#ff5c5c;--ring:#3a3831}}
.graph .ground{fill:var(--ground)}.graph .ring{fill:none;stroke:var(--ring)}.graph text{fill:var(--ink);stroke:var(--ground);stroke-width:3px;paint-order:stroke}.graph .far text{fill:var(--faint)}.tree{font-size:13px}.tree .hop0 text{font-weight:bold}.graph .hop2 text,.graph .moved{fill:var(--faint)}.tree .moved{font-size:11.5px}.tree .legend{font-size:12px}
.graph .line{fill:none;stroke-opacity:.75}.graph .in{stroke:var(--in)}.graph .out{stroke:var(--out);stroke-dasharray:7 4}.graph .both{stroke:var(--both);stroke-dasharray:2 3}.graph .beyond{stroke:var(--faint);stroke-opacity:.45}
.graph .mark{stroke:var(--ground);stroke-width:1.5}.graph .subject{fill:var(--ink)}.graph .low{fill:var(--low)}.graph .medium{fill:var(--medium)}.graph .high{fill:var(--high)}.graph .critical{fill:var(--critical)}.graph .unknown{fill:var(--ground);stroke:var(--faint);stroke-dasharray:2 2}
`.replaceAll("\n", "");

/** The direction as seen from the subject. */
export function toDirection(flows: readonly Flow[], subject: string): keyof typeof LINES {
  const [isIn, isOut] = [flows.some(({ to }) => to === subject), flows.some(({ from }) => from === subject)];
  if (isIn && isOut) return "both";
  if (isIn) return "in";
  return isOut ? "out" : "beyond";
}

/** A node's sign around (0, 0). @param size half its width. */
export function drawMark(mark: Mark, size: number): string {
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

export const toMark = ({ hop, screened }: GraphNode): Mark =>
  hop === 0 && screened?.risk_level === "low" ? "subject" : (screened?.risk_level ?? "unknown");

/** A name for a label. */
export const shorten = (name: string): string => (name.length > 20 ? `${name.slice(0, 19)}…` : name);
