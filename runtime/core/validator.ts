import type { ValidationIssue } from "../api/problem.ts";

/** A compiled JSON Schema (2020-12). */
export interface Schema {
  /** The schema itself, with its `$ref`s as written. */
  readonly document: Readonly<Record<string, unknown>>;
  /**
   * A checked copy with its defaults filled in, and every fault at once in the vocabulary of pydantic v2.
   * `null` in an optional field means absent. Fields that the schema does not name are dropped, not refused.
   * @param from the first element of every `loc`: `body`, `query` or `path`.
   */
  check(
    value: unknown,
    from: "body" | "query" | "path",
  ): { readonly value: unknown; readonly issues: readonly ValidationIssue[] };
  /** A copy of query or path texts, turned into the types that the schema names; what does not fit is left for `check`. */
  coerce(texts: Readonly<Record<string, unknown>>): Record<string, unknown>;
}

/** Compiles a schema by its name in `schemas/` or as it stands. */
export type Compile = (schema: string | object) => Schema;
