import { expect } from "chai";
import { Problem, toValueError } from "../../runtime/api/problem.ts";
import { askReady, perform, readValidInput } from "../../runtime/core/perform.ts";
import { createCompiler } from "../../runtime/core/schema/validator.ts";
import { toService } from "../support/http.ts";
import { problemOf, thrown } from "../support/thrown.ts";

const ROLL = { id: "roll", route: "POST /v1/roll" };
const never = new AbortController().signal;
const call = { id: "1", signal: never, payer: undefined, network: undefined };

const fail = (value: unknown): never => {
  throw value;
};

describe("a handler", () => {
  it("gives a file in base64 that is what its type says", async () => {
    const png = Buffer.from("89504e470d0a1a0afbff", "hex").toString("base64");
    const file = {
      ...toService({ ...ROLL, media: { type: "image/png", max_bytes: 100 } }),
      handler: ({ data }: { data: string }) => ({ media: "image/png", data }),
    };
    expect(await perform(file, { data: png }, call)).to.deep.equal({ media: "image/png", data: png });
    for (const [data, why] of [
      [`data:image/png;base64,${png}`, "it is not in base64"],
      [Buffer.from(png, "base64").toString("base64url"), "it is not in base64"],
      [`${png.slice(0, 8)}\n${png.slice(8)}`, "it is not in base64"],
      [btoa("<svg/>"), "it is no image/png"],
      ["", "it is empty"],
    ])
      expect((await problemOf(perform(file, { data }, call))).options.cause)
        .to.be.instanceOf(Error)
        .with.property("message", `the output of roll.roll breaks its type: ${why}`);
    const pictures = toService({ ...ROLL, media: { type: "image/*", max_bytes: 100 } });
    const broken = { ...pictures, handler: () => ({ media: "image/png\n", data: png }) };
    const { cause } = (await problemOf(perform(broken, {}, call))).options;
    expect(String(cause), "could not be sent").to.include('"image/png\\n" has characters that no header may have');
  });

  it("is refused at once when its answer leads back to itself, or is mostly holes", async () => {
    const tree = { name: "root", children: [] as object[] };
    tree.children.push({ parent: tree }, { parent: tree });
    const output = createCompiler(new Map())({ type: "object" });
    for (const [answer, why] of [
      [tree, /nested more than 300 levels deep/],
      [{ holes: new Array(2 ** 32 - 1) }, /holes\[0\]: Value error, this is not JSON data/],
    ] as const) {
      const { options } = await problemOf(perform({ ...toService(ROLL), output, handler: () => answer }, {}, call));
      expect((options.cause as Error).message).to.match(why);
    }
  });

  it("may fail with anything, which can be answered and logged", async () => {
    const trap = (): never => {
      throw new Error("a trap");
    };
    const altered = (more: object) => Object.assign(new Problem("unavailable", "later"), more);
    const unreadable: [unknown, RegExp][] = [
      [new Proxy({}, { getPrototypeOf: trap }), /a trap/],
      [new Proxy(new Problem("unavailable"), { get: trap }), /a trap/],
      [altered({ code: "nope" }), /title/],
      [altered({ options: undefined }), /issues/],
      [altered({ message: 1n }), /BigInt/],
      [new Problem("invalid-input", undefined, { issues: [toValueError("no", { low: 1n }, "low")] }), /BigInt/],
    ];
    for (const [value, why] of unreadable) {
      const parts = { check: () => fail(value), ready: () => fail(value), run: () => fail(value) };
      const service = { ...toService(ROLL), handler: parts };
      const input = async () => ({ value: { low: 1, high: 2 }, from: "body" as const });
      for (const work of [
        readValidInput(service, { input }),
        askReady(service, {}, never),
        perform(service, {}, call),
      ]) {
        const { code, options } = await problemOf(work);
        expect(code).to.equal("internal");
        expect((options.cause as Error).message).to.match(why);
      }
    }
    for (const value of [undefined, null, "text", Symbol("text"), 1n]) {
      const service = { ...toService(ROLL), handler: () => fail(value) };
      expect(await thrown(perform(service, {}, call)))
        .to.be.instanceOf(Error)
        .with.property("message", `the handler has thrown ${String(value)}`);
    }
  });
});
