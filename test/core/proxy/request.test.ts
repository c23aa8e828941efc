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

describe("an empty list or mapping", () => {
  it("is left out of the query and the headers, as an absent one is", () => {
    const plan = toRequestPlan("GET /pets", {
      query: { ids: "{ids}", tags: "{tags*}", of: "{of}", name: "{name}" },
      headers: { "x-ids": "{ids}", "x-of": "{of*}" },
    });
    const { query, headers } = toRequest(plan, { input: { ids: [], tags: [], of: { a: null }, name: "" } });
    expect([query, headers]).to.deep.equal(["name=", {}]);
    expect(toRequest(plan, { input: { tags: [""], name: "Rex" } }).query).to.equal("tags=&name=Rex");
  });
});

describe("the texts of a request to an upstream", () => {
  const refusal = (plan: ReturnType<typeof toRequestPlan>, value: unknown): string | undefined => {
    try {
      toRequest(plan, { input: { value } });
      return undefined;
    } catch (error) {
      expect(error).to.be.instanceOf(Problem).with.property("code", "invalid-input");
      return (error as Problem).options.issues?.[0]?.ctx?.error as string;
    }
  };
  const half = "it has a lone surrogate in it";

  for (const [what, plan] of [
    ["a path", toRequestPlan("GET /{value}")],
    ["a query", toRequestPlan("GET /", { query: { q: "{value}" } })],
    ["a form", toRequestPlan("POST /", { body: { q: "{value}" }, encoding: "form" })],
  ] as const)
    it(`are refused in ${what} where half of a character is left`, () => {
      expect([refusal(plan, "a\ud800"), refusal(plan, "a\ud83d\ude00")]).to.deep.equal([half, undefined]);
    });

  it("are refused as the names of a form's fields where half of a character is left", () => {
    const plan = toRequestPlan("POST /", { body: "{value}", encoding: "form" });
    expect([refusal(plan, { "a\ud800": 1 }), refusal(plan, { "a\ud83d\ude00": 1 })]).to.deep.equal([half, undefined]);
  });

  it("may have an equals sign in a mapping that commas separate, and none where equals signs do", () => {
    const pairs = (template: string) => toRequestPlan("GET /", { query: { q: template } });
    expect(toRequest(pairs("{value}"), { input: { value: { a: "b=c" } } }).query).to.equal("q=a,b%3Dc");
    expect(refusal(pairs("{value*}"), { a: "b=c" })).to.include("no equals signs");
    expect(refusal(pairs("{value}"), { a: "b,c" })).to.include("no commas");
  });

  it("are no mappings and lists in a mapping, whatever the fields of these are called", () => {
    const plan = toRequestPlan("GET /{value}");
    for (const inner of [{ toString: 1 }, { b: 1 }, [1, 2], ["b"]])
      expect(refusal(plan, { a: inner })).to.include("must be a text, a number");
  });

  it("are no names of files with a folder, of any system", () => {
    const plan = toRequestPlan("POST /", { body: { value: "{value}" }, encoding: "multipart", files: ["value"] });
    const named = (name: string): object => ({ data: "aGk=", name });
    expect(["a.txt", "a/b", "a\\b", ".."].map((name) => refusal(plan, named(name)) === undefined)).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
  });
});
