import { expect } from "chai";
import { compile } from "json-schema-to-typescript";
import { toTypeSchema } from "../../../runtime/cli/set/type-schemas.ts";
import { type SchemaObject, subschemas } from "../../../runtime/core/schema/subschemas.ts";
import { GRAMMARS } from "../../../runtime/core/set/grammar.ts";
import { createSchemaLint } from "../../../runtime/core/set/schema-lint.ts";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import siteSchema from "../../../schemas/site.json" with { type: "json" };
import { compilePlugins } from "./compile-plugins.ts";
import { TOSS } from "./served-directory.ts";

const SCHEMAS: Readonly<Record<string, SchemaObject>> = { Manifest: manifestSchema, SiteManifest: siteSchema };

/** Types are the same when they are assignable both ways and have the same keys: an extra optional key is assignable. */
const COMPARISON = `
import type { Manifest, SiteManifest } from "../../payphone/runtime/core/set/manifest.ts";
type Deep<T> = T extends object ? { readonly [Key in keyof T]: Deep<T[Key]> } : T;
type Keys<T> = T extends readonly (infer Item)[] ? Keys<Item> : T extends object ? KeysOf<T> : never;
type KeysOf<T> = string extends keyof T ? never : { [K in keyof T]-?: (K & string) | \`\${K & string}.\${Keys<T[K]>}\` }[keyof T];
type Same<A, B> = [A, B, Keys<A>, Keys<B>] extends [B, A, Keys<B>, Keys<A>] ? true : { expected: Keys<A>; found: Keys<B> };
/** Without input and output, which the two sides describe differently, and without what the output says of a file. */
type Plain<T> = Omit<T, "input" | "output" | "media">;
export const manifest: Same<Plain<Deep<FromManifest>>, Plain<Deep<Manifest>>> = true;
export const site: Same<Deep<FromSiteManifest>, Deep<SiteManifest>> = true;
`;

async function toTypes(schemas: typeof SCHEMAS): Promise<string> {
  const types = Object.entries(schemas).map(([name, schema]) =>
    compile(toTypeSchema(schema, "returned", String), `From${name}`, {
      additionalProperties: false,
      bannerComment: "",
    }),
  );
  return (await Promise.all(types)).join("\n");
}

describe("the schemas of manifests", () => {
  it("agree with the runtime's types", async () => {
    const types = await toTypes(SCHEMAS);
    expect(await compilePlugins({ ...TOSS, "plugins/same.ts": types + COMPARISON })).to.equal("");
    const other = types.replace("price?: string", "prize?: string").replace("decimals: number", "decimals: string");
    const found = await compilePlugins({ ...TOSS, "plugins/same.ts": other + COMPARISON });
    expect(found.match(/is not assignable to type/g), "and the comparison sees a difference").to.have.length(2);
  });

  it("are valid, and describe every key", () => {
    const lint = createSchemaLint();
    const locate = (): { line: number; column: number } => ({ line: 1, column: 1 });
    for (const [name, schema] of Object.entries(SCHEMAS)) {
      expect(lint({ file: name, data: schema, locate }, [], withoutOwnFormats(schema))).to.deep.equal([]);
      for (const { schema: part, path } of subschemas(schema))
        if (path.at(-2) === "properties") expect(part.description, path.join(".")).to.match(/^[A-Z`].*\.$/);
    }
  });
});

/** Without the formats that `GRAMMARS` defines; any other unknown format remains and is a fault. */
const withoutOwnFormats = (schema: SchemaObject): SchemaObject =>
  JSON.parse(JSON.stringify(schema), (key, value) => (key === "format" && value in GRAMMARS ? undefined : value));
