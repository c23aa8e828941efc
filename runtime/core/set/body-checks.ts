import { isObject } from "../json.ts";
import { type Schemas, toRootSchema } from "../schema/subschemas.ts";
import type { Draft } from "./draft.ts";
import { type Fault, faultAt } from "./faults.ts";
import type { SiteManifest } from "./manifest.ts";

/** Checks that the body limit allows each example, and the longest ASCII texts that the input's schema allows. */
export function checkBody(draft: Draft, schemas: Schemas, { limits }: Partial<SiteManifest>): Fault[] {
  const { route, aliases = [], input, body_bytes = limits?.body_bytes, examples = [] } = draft.data;
  if (body_bytes === undefined || ![route, ...aliases].some((text) => text?.startsWith("POST "))) return [];
  const place = draft.data.body_bytes === undefined ? ["input"] : ["body_bytes"];
  const texts = longestTexts(toRootSchema(input, schemas));
  const shortOf = (what: string): string => `a body may have ${body_bytes} bytes, but ${what}; set body_bytes`;
  if (texts > body_bytes)
    return [faultAt(draft, place, "body-too-small", shortOf(`the texts of the input up to ${texts} characters`))];
  return examples.flatMap((example, at) => {
    const bytes = Buffer.byteLength(JSON.stringify(example.input) ?? "");
    return bytes > body_bytes
      ? [faultAt(draft, ["examples", at, "input"], "body-too-small", shortOf(`this example has ${bytes}`))]
      : [];
  });
}

/** The sum of the `maxLength` of all fields. */
export function longestTexts(root: Readonly<Record<string, unknown>> | undefined): number {
  const fields = Object.values(isObject(root?.properties) ? root.properties : {});
  return fields.reduce<number>(
    (sum, field) => sum + (isObject(field) && typeof field.maxLength === "number" ? field.maxLength : 0),
    0,
  );
}
