import type { Trouble } from "../../surfaces/pages/seller/view.ts";
import { readFolder } from "../history/folder.ts";

export interface FolderCheckDeps {
  /** The shop's folder. */
  readonly home: string;
  /** The digest of the set that is sold. */
  readonly digest: () => string;
  readonly now: () => number;
}

/** The folder's files are read at most this often. */
const EVERY_MS = 60_000;

/** Reports when the shop's folder differs from the set that is sold. */
export function createFolderCheck({ home, digest, now }: FolderCheckDeps): () => readonly Trouble[] {
  let looked = Number.NEGATIVE_INFINITY;
  let found: string | undefined;
  return () => {
    // Absolute: the clock may have been set back.
    if (Math.abs(now() - looked) >= EVERY_MS) {
      looked = now();
      found = tryDigest(home);
    }
    if (found === undefined || digest() === "unknown" || found === digest()) return [];
    const what = "The shop's folder differs from what is sold: it was refused, taken back, or not applied yet";
    return [{ what, mend: "payphone diff" }];
  };
}

/** Undefined when a file of the folder cannot be read. */
function tryDigest(home: string): string | undefined {
  try {
    return readFolder(home).digest;
  } catch {
    return undefined;
  }
}
