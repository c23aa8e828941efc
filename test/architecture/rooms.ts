import { ROOMS } from "./plan.ts";
import { floorOf, SOURCES, sourcesOf } from "./sources.ts";

/** A part of a whole: a floor of the repository, or a folder or file directly in another folder. */
export interface Room {
  readonly name: string;
  readonly files: readonly string[];
  /** The rooms of the same whole that it imports, with the number of imports between their files. */
  readonly imports: ReadonlyMap<string, number>;
}

/** The folders with several rooms: those that have sub-folders with source files. */
export const HOUSES: readonly string[] = [...new Set([...SOURCES.keys()].flatMap(housesOf))];

/** `a/b` of `a/b/c/file.ts`: every folder of two steps or more that has a folder with the file. */
function housesOf(file: string): string[] {
  const steps = file.split("/").slice(0, -2);
  return steps.slice(1).map((_, at) => steps.slice(0, at + 2).join("/"));
}

/** The floors, from the highest to the lowest. @throws Error that shows a circle of floors. */
export const toFloors = (): readonly Room[] => toRooms("the house", floorOf, []);

/** The rooms of a folder, from the highest to the lowest. @throws Error that shows a circle of rooms. */
export const roomsOf = (folder: string): readonly Room[] =>
  toRooms(folder, (file) => childOf(folder, file), ROOMS[folder] ?? []);

/** The child of a folder that holds the file: `set` or `call.ts` of `runtime/core`; undefined for files elsewhere. */
const childOf = (folder: string, file: string): string | undefined =>
  file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split("/")[0] : undefined;

/** @param plan rooms that stand in this order, whatever they import. */
function toRooms(whole: string, nameOf: (file: string) => string | undefined, plan: readonly string[]): Room[] {
  const rooms = [...Map.groupBy(SOURCES.keys(), nameOf)].flatMap(([name, files]): Room[] =>
    name === undefined ? [] : [{ name, files, imports: importsOf(name, files, nameOf) }],
  );
  const planned = new Map(plan.map((name, at) => [name, plan.slice(at + 1)]));
  const below = new Map(rooms.map(({ name, imports }) => [name, [...imports.keys(), ...(planned.get(name) ?? [])]]));
  const heights = heightsOf(whole, below);
  return rooms.sort((a, b) => heights.get(b.name)! - heights.get(a.name)! || (a.name < b.name ? -1 : 1));
}

function importsOf(
  name: string,
  files: readonly string[],
  nameOf: (file: string) => string | undefined,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const target of files.flatMap(sourcesOf)) {
    const other = nameOf(target);
    if (other !== undefined && other !== name) counts.set(other, (counts.get(other) ?? 0) + 1);
  }
  return counts;
}

/** How many rooms lie on the longest way down from each. */
function heightsOf(whole: string, below: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, number> {
  const heights = new Map<string, number>();
  const measure = (name: string, trail: readonly string[]): number => {
    if (trail.includes(name)) throw circleError(whole, [...trail.slice(trail.indexOf(name)), name]);
    const known = heights.get(name);
    if (known !== undefined) return known;
    const height = 1 + Math.max(-1, ...(below.get(name) ?? []).map((next) => measure(next, [...trail, name])));
    heights.set(name, height);
    return height;
  };
  for (const name of below.keys()) measure(name, []);
  return heights;
}

const circleError = (whole: string, circle: readonly string[]): Error =>
  new Error(`a circle in ${whole}: ${circle.join(" → ")}; the order in test/architecture/plan.ts counts as imports`);
