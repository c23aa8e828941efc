import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { type RequestManifest, toRequestPlan } from "../../../runtime/core/proxy/plan.ts";
import { toRequest } from "../../../runtime/core/proxy/request.ts";

describe("a form to an upstream", () => {
  const order = {
    customer: "a&b",
    tags: ["x", "y"],
    items: [{ price: "p_1", product: { name: "Tea", images: ["a", "b"] } }, { price: "p_2" }],
    expand: ["payer", "items"],
    about: { city: "Linz", open: null },
    metadata: "",
  };

  /** The fields of the form. */
  function sent(body: NonNullable<RequestManifest["body"]>, input: object = order): [string, string][] {
    const plan = toRequestPlan("POST /orders", { body, encoding: "form" });
    const { content } = toRequest(plan, { input: { ...input } }).body as { content: string };
    return [...new URLSearchParams(content)];
  }

  it("has each field of a mapping by itself where its name says so, and each item of a list of them", () => {
    const body = {
      customer: "{customer}",
      tags: "{tags}",
      "items[*]": "{items}",
      "expand[*]": "{expand}",
      "metadata[*]": "{metadata}",
      "about[*]": "{about}",
      "missing[*]": "{missing}",
    };
    expect(sent(body)).to.deep.equal([
      ["customer", "a&b"],
      ["tags", "x"],
      ["tags", "y"],
      ["items[0][price]", "p_1"],
      ["items[0][product][name]", "Tea"],
      ["items[0][product][images][0]", "a"],
      ["items[0][product][images][1]", "b"],
      ["items[1][price]", "p_2"],
      ["expand[0]", "payer"],
      ["expand[1]", "items"],
      ["metadata", ""],
      ["about[city]", "Linz"],
    ]);
  });

  it("has the JSON of a mapping anywhere else", () => {
    expect(sent("input", { about: { city: "Linz" }, n: 1 })).to.deep.equal([
      ["about", '{"city":"Linz"}'],
      ["n", "1"],
    ]);
  });

  it("sends each item of a list that a caller names, with files or without", () => {
    const fields = { tag: ["red & blue", "b=c"], mode: "x" };
    for (const encoding of ["form", "multipart"] as const) {
      const plan = toRequestPlan("POST /orders", { body: { "*": "{fields}" }, encoding });
      const { content } = toRequest(plan, { input: { fields } }).body as { content: string | Uint8Array };
      const text = decodeURIComponent(Buffer.from(content as string).toString());
      for (const sent of ["red & blue", "b=c", "x"]) expect(text, encoding).to.include(sent);
    }
  });

  it("is refused where its value has no fields: an empty form would be sent", () => {
    const refused = "it is sent as a form, and must be a mapping of its fields";
    for (const encoding of ["form", "multipart"] as const) {
      const plan = toRequestPlan("POST /orders", { body: "{order}", encoding });
      for (const value of ["a=1", ["a"], 7])
        expect(() => toRequest(plan, { input: { order: value } }))
          .to.throw(Problem)
          .with.nested.property("options.issues[0].ctx.error", refused);
    }
  });

  it("lacks a file that is not given, also where the manifest names it; one that is given must have its bytes", () => {
    const body = {
      note: "{note}",
      photo: { data: "{photo}", name: "x.png" },
      more: [{ data: "{one}", name: "1.png" }, { data: "{two}" }],
      own: "{own}",
    };
    const plan = toRequestPlan("POST /", { body, encoding: "multipart", files: ["photo", "more", "own"] });
    const names = (input: object): string[] => {
      const { content } = toRequest(plan, { input: { ...input } }).body as { content: Uint8Array };
      return [
        ...Buffer.from(content)
          .toString()
          .matchAll(/; name="(\w+)"/g),
      ].map(([, name = ""]) => name);
    };
    expect(names({ note: "a" })).to.deep.equal(["note"]);
    expect(names({ photo: null, two: "aGk=" })).to.deep.equal(["more"]);
    expect(names({ note: "a", photo: "aGk=", one: "aGk=", two: "aGk=" })).to.deep.equal([
      "note",
      "photo",
      "more",
      "more",
    ]);
    for (const input of [{ photo: "?" }, { photo: "aGk=", own: { name: "x.png" } }])
      expect(() => names(input))
        .to.throw(Problem)
        .with.property("code", "invalid-input");
  });

  it("lets no mapping set what the manifest sets", () => {
    const body = { mode: "payment", "*": "{more}" };
    expect(sent(body, { more: { note: "x" } })).to.deep.equal([
      ["mode", "payment"],
      ["note", "x"],
    ]);
    for (const more of [{ mode: "refund" }, { MODE: "refund" }, { "a]b": 1 }, { a: { b: 1 } }])
      expect(() => sent(body, { more }))
        .to.throw(Problem)
        .with.property("code", "invalid-input");
  });

  it("lets no mapping set a part of what the manifest sets, or all of it", () => {
    const query = { "filter[tenant][id]": "7", "filter[*]": "{filter}", "filter[by]": "{by}", "*": "{more}" };
    const send = (input: object) => () =>
      toRequest(toRequestPlan("GET /orders", { query }, ["app[key]"]), { input: { ...input } }).query;
    const fixed = "filter%5Btenant%5D%5Bid%5D=7";
    expect(send({ filter: { tenants: 1, tenant: { ids: 2 }, by: 3 }, more: { filters: 4 } })()).to.equal(
      `${fixed}&filter%5Btenants%5D=1&filter%5Btenant%5D%5Bids%5D=2&filter%5Bby%5D=3&filters=4`,
    );
    for (const input of [
      ...[{ tenant: { id: 8 } }, { Tenant: { ID: 8 } }, { tenant: 8 }, { tenant: { id: { eq: 8 } } }, "8"].map(
        (filter) => ({
          filter,
        }),
      ),
      ...["filter", "Filter", "filter.tenant.id", "filter_by", "app", "app.key"].map((name) => ({
        more: { [name]: 8 },
      })),
    ])
      expect(send(input), JSON.stringify(input)).to.throw(Problem).with.property("code", "invalid-input");
  });

  it("lets no mapping of a form set a part of what the manifest sets", () => {
    const body = { "order[state]": "open", "order[*]": "{order}" };
    expect(sent(body, { order: { note: "x" } })).to.deep.equal([
      ["order[state]", "open"],
      ["order[note]", "x"],
    ]);
    expect(() => sent(body, { order: { state: "paid" } }))
      .to.throw(Problem)
      .with.property("code", "invalid-input");
  });
});

describe("a body that is one text with fields in it", () => {
  const headers = { "content-type": "text/xml" };

  it("is refused without one of them, since nothing of it would be sent", () => {
    const plan = toRequestPlan("POST /soap", { body: "<q><a>{a}</a><b>{b}</b></q>", encoding: "text", headers });
    expect(toRequest(plan, { input: { a: 1, b: "" } }).body?.content).to.equal("<q><a>1</a><b></b></q>");
    for (const input of [{ a: 1 }, { a: 1, b: null }])
      expect(() => toRequest(plan, { input }))
        .to.throw(Problem)
        .with.nested.property("options.issues[0].loc")
        .that.deep.equals(["body", "b"]);
  });

  it("is no body where it is a field alone, which is absent", () => {
    const plan = toRequestPlan("POST /raw", { body: "{text}", encoding: "text", headers });
    expect(toRequest(plan, { input: {} })).to.not.have.property("body");
  });
});
