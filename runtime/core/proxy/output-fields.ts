import { isObject } from "../json.ts";
import { namedFields } from "../schema/named-fields.ts";
import type { Schema } from "../schema/validator.ts";
import type { AnswerTerms } from "./answer.ts";

/** The fields that a service's output names where the upstream's answer stands. */
export interface OutputFields {
  readonly names: ReadonlySet<string>;
  /**
   * Whether nothing is left of an answer because the output names none of its fields: unnamed ones are dropped, and where no
   * field is required, `{ "error": … }` would be sold as `{}`.
   * @param checked the answer after its check
   */
  isStrange(answer: unknown, checked: unknown): boolean;
}

export function readOutputFields(
  { document, nodes }: Pick<Schema, "document" | "nodes">,
  { wrap }: AnswerTerms = {},
): OutputFields {
  const outer = namedFields([document], nodes.resolve);
  const inner = outer.flatMap(([name, schema]) => (name === wrap ? [schema] : []));
  const fields = wrap === undefined ? outer : namedFields(inner, nodes.resolve);
  const names = new Set(fields.map(([name]) => name));
  const namesIn = (output: unknown): readonly string[] | undefined => {
    const value = wrap !== undefined && isObject(output) ? output[wrap] : output;
    return isObject(value) ? Object.keys(value).filter((name) => name !== AGE) : undefined;
  };
  return {
    names,
    isStrange(answer, checked) {
      const [given = [], left] = [namesIn(answer), namesIn(checked)];
      const isEmptied = given.length > 0 && left?.length === 0;
      return isEmptied && names.size > 0 && !given.some((name) => names.has(name));
    },
  };
}

/** The field that tells how old a cached answer is. */
const AGE = "age_seconds";
