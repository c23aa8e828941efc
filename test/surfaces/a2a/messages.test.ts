import { expect } from "chai";
import type { Loose } from "../mcp/served/support/stall.ts";
import { BOUNDLESS, type Door, openDoor } from "./served/support/door.ts";

const INPUT = { low: 1, high: 6 };

describe("what a message of A2A asks for", () => {
  let door: Door;
  beforeEach(async () => {
    door = await openDoor({ budgets: BOUNDLESS });
  });
  afterEach(() => door.close());

  const send = (parts: unknown): Promise<Loose> =>
    door.call("message/send", { message: { role: "user", messageId: "m", parts } });

  const forms: readonly [what: string, parts: unknown][] = [
    ["a data part", [{ kind: "data", data: { skill: "free", input: INPUT } }]],
    ["a data part of 1.0", [{ data: { skill: "free", input: INPUT } }]],
    [
      "a data part behind words",
      [
        { kind: "text", text: "Please do this:" },
        { kind: "data", data: { skill: "free", input: INPUT } },
      ],
    ],
    ["a text with JSON", [{ kind: "text", text: '{"skill":"free","input":{"low":1,"high":6}}' }]],
    ["a text with JSON in a fence", [{ text: '```json\n{"skill":"free","input":{"low":1,"high":6}}\n```\n' }]],
    ["a skill's id and its input in a fence", [{ text: '```\nfree {"low":1,"high":6}\n```' }]],
    ["a skill's id and its input", [{ kind: "text", text: ' free {"low":1,\n"high":6} ' }]],
    ["a skill's id, and its input in another text", [{ text: "free" }, { text: '{"low":1,"high":6}' }]],
    ["a skill's id in text, and its input as data", [{ text: "free" }, { data: INPUT }]],
    [
      "data with null in the fields of other parts",
      [{ text: null, data: { skill: "free", input: INPUT }, raw: null, url: null, file: null }],
    ],
  ];
  for (const [what, parts] of forms)
    it(`is understood as ${what}`, async () => {
      const { result } = await send(parts);
      expect(result.status.state).to.equal("completed");
      expect(result.artifacts[0].parts[0].data).to.deep.equal({ value: 1 });
    });

  it("has an empty input, when there is none", async () => {
    for (const parts of [
      [{ text: "free" }],
      [{ data: { skill: "free" } }],
      [{ data: { skill: "free", input: null } }],
    ]) {
      const { result } = await send(parts);
      expect(result.status.state).to.equal("rejected");
      expect(result.status.message.parts[1].data.detail).to.have.length(2);
    }
  });

  const unclear: readonly [what: string, parts: unknown][] = [
    ["nothing", []],
    ["data without a skill", [{ kind: "data", data: INPUT }]],
    ["an input that is no JSON", [{ text: 'free {"low":1,"high":6' }]],
    ["an input with words behind it", [{ text: 'free {"low":1,"high":6}, please' }]],
    ["an input that is a list", [{ text: "free" }, { data: [1, 6] }]],
    ["a skill that is no text", [{ kind: "data", data: { skill: { id: "free" }, input: INPUT } }]],
    ["parts that are no objects", [null, 5, "free", ["free"]]],
    ["no list of parts", "free"],
  ];
  for (const [what, parts] of unclear)
    it(`is refused as ${what}, with how it should be asked`, async () => {
      const { error } = await send(parts);
      expect(error.code).to.equal(-32602);
      expect(error.message).to.match(/Send a data part|parts must be a list/);
    });

  it("is refused when it asks for two calls, of which one would be forgotten", async () => {
    const { error } = await send([
      { data: { skill: "free", input: INPUT } },
      { data: { skill: "roll", input: INPUT } },
    ]);
    expect(error.code).to.equal(-32602);
    expect(error.message).to.equal("A message asks for one call, in one data part; this one has 2");
    expect(door.executions).to.equal(0);
  });

  it("is refused when its input stands in two data parts, or behind that of the skill, where nobody reads it", async () => {
    for (const parts of [
      [{ data: { skill: "free" } }, { data: INPUT }],
      [{ text: "free" }, { data: { low: 1 } }, { data: { high: 6 } }],
    ])
      expect((await send(parts)).error.message).to.match(/^A message asks for one call, in one data part/);
    expect(door.executions).to.equal(0);
  });

  it("is refused when the input's fields stand beside the skill, where nobody reads them", async () => {
    for (const part of [{ data: { skill: "free", ...INPUT } }, { text: JSON.stringify({ skill: "free", ...INPUT }) }]) {
      const { error } = await send([part]);
      expect(error.code).to.equal(-32602);
      expect(error.message).to.equal('The input\'s fields belong into "input": low, high');
    }
    expect(door.executions).to.equal(0);
  });

  it("is refused when its input has a number that would be null when it is paid, wherever it stands", async () => {
    for (const input of ['{"low":1e400,"high":6}', '{"low":1,"high":6,"more":[{"least":-1e999}]}']) {
      const { error } = await send([{ text: `roll ${input}` }]);
      expect(error?.code, input).to.equal(-32602);
      expect(error.message).to.equal("In the input, a number is infinite: larger than 1.8e308");
    }
    expect((await send([{ text: 'roll {"low":1,"high":1e308}' }])).result.status.state).to.equal("input-required");
  });

  it("is refused when its input in a text is nested too deep, and is no failure of the seller", async () => {
    const { error } = await send([{ text: `free {"low":1,"high":${"[".repeat(20_000)}${"]".repeat(20_000)}}` }]);
    expect([error.code, error.message]).to.deep.equal([-32602, "The input is nested more than 256 levels deep"]);
  });

  it("is refused with a guess, when there is no such skill", async () => {
    expect((await send([{ text: "rol" }])).error.message).to.equal('There is no skill "rol"; did you mean "roll"?');
    for (const skill of ["__proto__", "constructor", "x".repeat(10_000)])
      expect((await send([{ data: { skill } }])).error.message).to.match(/the agent card lists them$/);
  });

  it("is refused with -32005, when it brings a file", async () => {
    for (const file of [
      { kind: "file", file: { uri: "https://a.example" } },
      { raw: "AAAA" },
      { url: "https://a.example" },
    ])
      expect((await send([{ data: { skill: "free", input: INPUT } }, file])).error.code).to.equal(-32005);
  });

  for (const params of [{}, { message: null }, { message: [] }, { message: "roll" }])
    it(`is not in the params ${JSON.stringify(params)}`, async () => {
      expect((await door.call("message/send", params)).error.code).to.equal(-32602);
    });

  it("is refused under ids that are none", async () => {
    for (const ids of [{ taskId: 5 }, { contextId: {} }, { contextId: "x".repeat(129) }, { contextId: "\ud800" }]) {
      const { error } = await door.call("message/send", {
        message: { messageId: "m", role: "user", parts: [{ text: "free" }], ...ids },
      });
      expect(error.code, JSON.stringify(ids)).to.equal(-32602);
    }
  });
});
