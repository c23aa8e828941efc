import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { toLean, toOutline, toTypes } from "../../../runtime/surfaces/schema/lean.ts";

describe("a schema in its shorter forms", () => {
  it("takes what the schema takes, also in lists whose first items are described one by one", () => {
    const items = { type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } };
    const schema = { type: "object", properties: { pair: items, rest: { ...items, items: false } } };
    const value = { pair: ["a", 1, 2], rest: ["a"] };
    const forms = [schema, toLean(schema), toTypes(schema), toOutline(schema, 1), toOutline(schema, 3)];
    for (const form of forms) {
      const isValid = new Ajv2020({ strict: false }).compile(form)(value);
      expect(isValid, JSON.stringify(form)).to.equal(true);
    }
  });
});
