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
  /** The service's id; omitted when the change concerns the whole shop. */
  readonly service?: string;
  /** Whether requests that worked before may fail or have another result. */
  readonly isBreaking: boolean;
  /** A sentence without a full stop. */
  readonly text: string;
}

export interface SetComparison {
  /** Digests of the files; undefined when nothing was sold before. */
  readonly from: string | undefined;
  readonly to: string;
  readonly changes: readonly Change[];
  /** What only a restart will change: a sentence each. */
  readonly kept?: readonly string[];
}

const MARKS: Partial<Record<Change["kind"], string>> = { added: "+", removed: "-" };

/** One line for each change, those of the whole shop first; `!` marks breaking changes. */
export function toChangeLines(changes: readonly Change[]): readonly string[] {
  const width = Math.max(0, ...changes.map(({ service = "" }) => service.length));
  return changes.map(({ kind, service = "", isBreaking, text }) => {
    const mark = MARKS[kind] ?? (isBreaking ? "!" : "~");
    return `${mark} ${service.padEnd(width)}  ${text}`.trimEnd();
  });
}
