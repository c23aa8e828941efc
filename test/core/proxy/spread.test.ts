import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { toRequestPlan } from "../../../runtime/core/proxy/plan.ts";
import { toRequest } from "../../../runtime/core/proxy/request.ts";

describe("a mapping whose fields are sent by themselves", () => {
  const body = { mode: "payment", "metadata[order id]": "7", "metadata[*]": "{metadata}" };
  const toPairs = (metadata: object): [string, string][] => {
    const { content } = toRequest(toRequestPlan("POST /", { body, encoding: "form" }), { input: { metadata } })
      .body as {
      content: string;
    };
    return [...new URLSearchParams(content)].slice(2);
  };

  it("may have names with spaces between their characters, in brackets of a form", () => {
    expect(toPairs({ "customer name": "Ann", "a b": { "c d": "e" } })).to.deep.equal([
      ["metadata[customer name]", "Ann"],
      ["metadata[a b][c d]", "e"],
    ]);
  });

  it("has no names that a server may read as others, or as what the manifest sets", () => {
    const refused = [" a", "a ", " ", "", "a\tb", "a\u00a0b", "a]b", "__proto__", "order id", "Order  ID", "order_id"];
    for (const name of refused)
      expect(() => toPairs({ [name]: "x" }), JSON.stringify(name))
        .to.throw(Problem)
        .with.property("code", "invalid-input");
  });

  it("has no spaces in names of a query, and in names that stand alone", () => {
    const query = toRequestPlan("GET /", { query: { "filter[*]": "{filter}" } });
    expect(() => toRequest(query, { input: { filter: { "a b": "1" } } }))
      .to.throw(Problem)
      .with.property("code", "invalid-input");
    const plan = toRequestPlan("POST /", { body: { "*": "{fields}" }, encoding: "form" });
    expect(() => toRequest(plan, { input: { fields: { "a b": "1" } } }))
      .to.throw(Problem)
      .with.property("code", "invalid-input");
  });
});
