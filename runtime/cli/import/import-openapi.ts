import { Problem } from "../../api/problem.ts";
import type { Env } from "../config/reader.ts";
import { type ImportOutcome, type Say, toUnknown } from "./imported.ts";
import { recordLive } from "./live.ts";
import { importOperations, type OpenApiImport } from "./openapi/openapi.ts";
import { isEmpty, listOperations, type Operation, type Selection, select } from "./openapi/operations.ts";
import { createPointers } from "./openapi/pointers.ts";
import { readDocument } from "./openapi/read-document.ts";
import { toUpstreamId } from "./openapi/upstreams.ts";
import { quote, toCommandLine, toImportReport, toOfferTable } from "./report.ts";
import { applyImport } from "./shop/apply.ts";

/** The command line of `payphone import openapi`. */
export interface OpenApiCommand {
  /** A file or a URL. */
  readonly location: string;
  readonly dir: string;
  readonly selection: Selection;
  /** When omitted, existing services keep their price and new ones get `USUAL_PRICE`. */
  readonly price?: string | undefined;
  /** When omitted, derived from the document's title. */
  readonly upstream?: string | undefined;
  readonly isDryRun: boolean;
  /** The command line that the list of operations suggests; default: that of `payphone import openapi`. */
  readonly typed?: string | undefined;
  /** Set to record the answers of read-only operations, with the credentials of this environment. */
  readonly live?: { readonly env: Env } | undefined;
  /** Hears how far a long import is; default: standard error. */
  readonly say?: Say | undefined;
}

/** The price of an imported service when none is given. */
export const USUAL_PRICE = "0.01";

/** A document and the selection from it. */
type OpenedDocument = Omit<OpenApiImport, "price" | "say">;

/** @throws Problem `bad-request` for an unusable document or selection; `upstream-failed`. */
export async function openDocument({
  location,
  selection,
  upstream: named,
}: Pick<OpenApiCommand, "location" | "selection" | "upstream">): Promise<OpenedDocument> {
  const read = await readDocument(location);
  const pointers = createPointers(read.document);
  const operations = listOperations(read.document, pointers);
  if (operations.length === 0) throw new Problem("bad-request", `${location} has no operations`);
  const upstream = named ?? toUpstreamId(read.document);
  const { chosen, unknown } = select(operations, selection, upstream);
  const known = operations.flatMap(({ name, method, path, tags }) => [name, `${method} ${path}`, ...tags]);
  if (unknown.length > 0) throw toUnknown(unknown, known, "operation or tag");
  return { read, pointers, operations, chosen, upstream };
}

/**
 * Imports operations of an OpenAPI document into a shop. Without a selection, lists the operations.
 * @param opened the document, when it was opened before.
 * @throws Problem `bad-request` for an unusable document, selection or shop; nothing is written then.
 */
export async function runOpenApiImport(command: OpenApiCommand, opened?: OpenedDocument): Promise<ImportOutcome> {
  const { location, dir, selection, price, upstream: named, isDryRun, say = console.error } = command;
  const document = opened ?? (await openDocument(command));
  const { operations, upstream } = document;
  const again = toCommandLine(
    "npx",
    "payphone",
    "import",
    "openapi",
    location,
    ...(named ? ["--upstream", named] : []),
  );
  if (isEmpty(selection)) return { report: toTable(operations, location, command.typed ?? again), isPartial: false };
  const imported = await importOperations({ ...document, price: price ?? USUAL_PRICE, say });
  const applied = await applyImport(imported, { dir, upstream, isPriceGiven: price !== undefined, isDryRun, say });
  return recordLive({ report: toImportReport(applied, isDryRun), isPartial: applied.refused.length > 0 }, applied, {
    dir,
    env: isDryRun ? undefined : command.live?.env,
  });
}

function toTable(operations: readonly Operation[], location: string, typed: string): string {
  const offers = operations.map(({ name, method, path, tags, summary, description }) => ({
    name,
    call: `${method} ${path}`,
    tags,
    summary: summary || description,
  }));
  const [first] = operations;
  const [tag] = operations.flatMap(({ tags }) => tags);
  return toOfferTable(offers, location, [
    "Choose:",
    `  ${typed} --operations ${quote(first?.name ?? "")} --price 0.005`,
    ...(tag === undefined ? [] : [`  ${typed} --tag ${quote(tag)}`]),
    `  ${typed} --all`,
  ]);
}
