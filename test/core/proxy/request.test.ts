import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { toRequestPlan } from "../../../runtime/core/proxy/plan.ts";
import { toRequest } from "../../../runtime/core/proxy/request.ts";

describe("the numbers of a request to an upstream", () => {
  const plan = toRequestPlan("DELETE /pets/{id}", { query: { version: "{version}" }, headers: { "x-of": "{owner}" } });
  const inexact = JSON.parse("9007199254740993") as number;

  it("are sent as they were written", () => {
    const { target, query, headers } = toRequest(plan, { input: { id: 9007199254740991, version: 1.5, owner: -3 } });
    expect([target, query, headers]).to.deep.equal(["/pets/9007199254740991", "version=1.5", { "x-of": "-3" }]);
  });

  for (const field of ["id", "version", "owner"])
    it(`are refused where they may have been rounded, so that nothing else is named: ${field}`, () => {
      const input = { id: 1, version: 1, owner: 1, [field]: inexact };
      expect(() => toRequest(plan, { input }))
        .to.throw(Problem)
        .with.property("code", "invalid-input");
    });
});
