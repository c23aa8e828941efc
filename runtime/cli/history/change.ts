/** One difference between two sets. */
export interface Change {
  readonly kind:
    | "added"
    | "removed"
    | "price"
    | "schema"
    | "route"
    | "terms"
    | "limits"
    | "rails"
    | "texts"
    | "sources"
    | "code";
  /** The service's id; left out where the change concerns the whole shop. */
  readonly service?: string;
  /** Whether what buyers did until now may fail, or mean something else. */
  readonly isBreaking: boolean;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** What a comparison shows. */
export interface SetComparison {
  /** Digests of the files; undefined where nothing was sold before. */
  readonly from: string | undefined;
  readonly to: string;
  readonly changes: readonly Change[];
}

const MARKS: Partial<Record<Change["kind"], string>> = { added: "+", removed: "-" };

/** One line for each change, those of the shop first; `!` marks what breaks buyers. */
export function toChangeLines(changes: readonly Change[]): readonly string[] {
  const width = Math.max(0, ...changes.map(({ service = "" }) => service.length));
  return changes.map(({ kind, service = "", isBreaking, text }) => {
    const mark = MARKS[kind] ?? (isBreaking ? "!" : "~");
    return `${mark} ${service.padEnd(width)}  ${text}`.trimEnd();
  });
}
