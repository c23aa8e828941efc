import { Problem } from "../../api/problem.ts";
import type { JsonObject } from "../../core/json.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";

/** The offer of a source as files of a shop. Nothing is written yet. */
export interface Imported {
  /** The file or URL that was read, or the command that was started. */
  readonly source: string;
  /** The entries for `upstreams` of `_site.yaml`. */
  readonly upstreams: readonly UpstreamEntry[];
  readonly services: readonly ImportedService[];
  /** Schemas that services refer to, by name. */
  readonly schemas: ReadonlyMap<string, JsonObject>;
  readonly refused: readonly LeftOut[];
  /** The ids of all services that the source offers, selected or not. */
  readonly offered: readonly string[];
  /** Notes for the operator about these services, by their ids, one sentence each. */
  notesOn(sold: ReadonlySet<string>): readonly string[];
}

/** Hears how far a long import is, in one line. */
export type Say = (line: string) => void;

/** From so many services on, an import is long. */
export const MANY = 500;

/** An entry of `upstreams`. */
export type UpstreamEntry = JsonObject & { readonly id: string; readonly title: string };

/** One service of a source, as a manifest. */
export interface ImportedService {
  /** Its name in the source. */
  readonly name: string;
  readonly manifest: ImportedManifest;
  /** Whether the example's input was derived from the schema, because the source has no example. */
  readonly isDerived: boolean;
}

/** The keys of a manifest, in the order in which they are written. */
export type ImportedManifest = JsonObject & { readonly id: string; readonly input: unknown; readonly output: unknown };

/** Something that cannot be imported. */
export interface LeftOut {
  readonly name: string;
  /** Completes "it is left out, because …". */
  readonly reason: string;
}

/** What a command of `payphone import` prints. */
export interface ImportOutcome {
  readonly report: string;
  /** Whether something that was selected could not be imported. */
  readonly isPartial: boolean;
}

/** Thrown when one operation or tool cannot be imported; the message is the reason. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** Why something is left out. @throws errors other than Refused, which are bugs. */
export function toReason(error: unknown): string {
  if (error instanceof Refused) return error.message;
  throw error;
}

/** The problem with a selection. @param what it names: `tool` */
export function toUnknown(unknown: readonly string[], known: readonly string[], what: string): Problem {
  const lines = unknown.map((name) => `${name}: no such ${what}${didYouMean(name, known)}`);
  return new Problem("bad-request", ["Nothing was imported.", ...lines].join("\n"));
}
