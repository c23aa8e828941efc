import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type DocumentsOptions, toDocuments } from "../../surfaces/documents.ts";
import type { Document } from "../../surfaces/http/document.ts";

const FOLDER = join(import.meta.dirname, "../../surfaces/pages/explorer");
const SERVED = /\.(?:css|js|png|svg)$/;

/** The files of the explorer, by name. */
export async function loadAssets(): Promise<ReadonlyMap<string, Buffer>> {
  const names = (await readdir(FOLDER)).filter((name) => SERVED.test(name)).sort();
  const bytes = await Promise.all(names.map((name) => readFile(join(FOLDER, name))));
  return new Map(names.map((name, at) => [name, bytes[at] as Buffer]));
}

/** All documents about a set of services, by path. */
export const loadDocuments = async (
  options: Omit<DocumentsOptions, "assets">,
): Promise<ReadonlyMap<string, Document>> => toDocuments({ ...options, assets: await loadAssets() });
