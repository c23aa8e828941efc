import type { Room } from "./rooms.ts";

/** So many files that import nothing beside them share one node. */
const FEWEST_TO_SHARE = 3;

interface Node {
  readonly names: readonly string[];
  readonly files: number;
  /** The nodes that it imports, by their position, with the number of imports. */
  readonly imports: ReadonlyMap<number, number>;
}

/** Rooms as a Mermaid flowchart. An arrow that follows from two others is left out. */
export function toPicture(rooms: readonly Room[]): string {
  const nodes = toNodes(rooms);
  const boxes = nodes.map(({ names, files }, at) => {
    const size = names.every((name) => name.endsWith(".ts")) ? "" : `<br>${files} ${files === 1 ? "file" : "files"}`;
    return `  n${at}["${names.join("<br>")}${size}"]`;
  });
  const arrows = nodes.flatMap((node, from) =>
    [...node.imports]
      .filter(([to]) => !isImplied(nodes, node, to))
      .map(([to, count]) => `  n${from} -->|${count}| n${to}`),
  );
  return ["```mermaid", "flowchart TD", ...boxes, ...arrows, "```"].join("\n");
}

function toNodes(rooms: readonly Room[]): Node[] {
  const lowest = rooms.filter(({ name, imports }) => name.endsWith(".ts") && imports.size === 0);
  const shared = lowest.length < FEWEST_TO_SHARE ? [] : lowest;
  const groups = [...rooms.filter((room) => !shared.includes(room)).map((room) => [room]), shared].filter(
    ({ length }) => length > 0,
  );
  const positions = new Map(groups.flatMap((group, at) => group.map(({ name }) => [name, at] as const)));
  return groups.map((group) => {
    const imports = new Map<number, number>();
    for (const [name, count] of group.flatMap((room) => [...room.imports])) {
      const to = positions.get(name)!;
      imports.set(to, (imports.get(to) ?? 0) + count);
    }
    const byPosition = [...imports].sort(([a], [b]) => a - b);
    return {
      names: group.map(({ name }) => name),
      files: group.flatMap(({ files }) => files).length,
      imports: new Map(byPosition),
    };
  });
}

/** Whether a node reaches another one through a third. */
const isImplied = (nodes: readonly Node[], from: Node, to: number): boolean =>
  [...from.imports.keys()].some((next) => next !== to && reaches(nodes, next, to));

const reaches = (nodes: readonly Node[], from: number, to: number): boolean =>
  [...nodes[from]!.imports.keys()].some((next) => next === to || reaches(nodes, next, to));
