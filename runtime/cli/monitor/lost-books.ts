import { readdirSync } from "node:fs";
import type { Trouble } from "../../surfaces/pages/seller/view.ts";

/** The name of a copy of the book in Redis that was set aside, as `openProjection` gives it. */
const LOST = /^book\.sqlite\.lost-\d+$/;

/** Books that Redis does not have any more, as long as their copies are in the data directory. */
export function findLostBooks(dataDir: string): readonly Trouble[] {
  return namesIn(dataDir)
    .filter((name) => LOST.test(name))
    .map((name) => ({
      what: `Redis no longer has the book that this machine had read: ${name} in the data directory is its copy`,
      mend: "payphone books verify",
    }));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
