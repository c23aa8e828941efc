import { expect } from "chai";
import { type SchemaObject, subschemas } from "../../../runtime/core/schema/subschemas.ts";
import { GRAMMARS } from "../../../runtime/core/set/grammar.ts";
import { createSchemaLint } from "../../../runtime/core/set/schema-lint.ts";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import siteSchema from "../../../schemas/site.json" with { type: "json" };

const SCHEMAS: Readonly<Record<string, SchemaObject>> = { Manifest: manifestSchema, SiteManifest: siteSchema };

describe("the schemas of manifests", () => {
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
