import { isObject } from "../../core/json.ts";
import type { Env } from "../config/reader.ts";
import type { ImportedManifest, ImportOutcome } from "./imported.ts";
import { toIdList } from "./names.ts";
import type { AppliedImport } from "./shop/apply.ts";

export interface LiveTerms {
  readonly dir: string;
  /** The variables with credentials; undefined when nothing is to be recorded. */
  readonly env: Env | undefined;
}

/**
 * Records the examples of read-only services. All others are skipped, because an example must not order, change or
 * delete anything.
 */
export async function recordLive(
  outcome: ImportOutcome,
  { services, upstreams }: AppliedImport,
  { dir, env }: LiveTerms,
): Promise<ImportOutcome> {
  if (env === undefined || services.length === 0) return outcome;
  const { recordNew } = await import("../record/new.ts");
  const reads = services.filter(({ manifest }) => isReading(manifest));
  const ids = upstreams.map(({ id }) => id);
  const recorded = await recordNew({ dir, ids, env, services: new Set(reads.map(({ manifest }) => manifest.id)) });
  const rest = services.length - reads.length;
  const note = `note: ${rest} services may change something and were not asked: "payphone record --new" asks them`;
  const lines = [outcome.report, "", recorded.report, ...(rest > 0 ? [note] : []), ...noteShown(reads)];
  return { report: lines.join("\n"), isPartial: outcome.isPartial || recorded.hasFailed };
}

/** The answers that documents show are seldom those that the API gives today. */
function noteShown(services: AppliedImport["services"]): string[] {
  const shown = services.filter(({ manifest: { examples } }) =>
    [examples].flat().some((example) => isObject(example) && example.output !== undefined),
  );
  if (shown.length === 0) return [];
  const names = toIdList(shown.map(({ manifest }) => manifest.id));
  return [
    `note: "payphone test" fails where the API answers otherwise than its document shows: ${names}; there, write its own answer under examples, or no output`,
  ];
}

const isReading = ({ hints }: ImportedManifest): boolean => isObject(hints) && hints.readOnly === true;
