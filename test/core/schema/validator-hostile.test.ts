import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { OWN_SCHEMAS } from "../../support/own-schemas.ts";
import { cpuOf } from "./cpu.ts";

const SIZE = 128 * 1024;

interface Result {
  readonly issues: readonly string[];
  /** The length of the issues as JSON. */
  readonly answer: number;
  /** The CPU time of a run on average, in microseconds: some systems count it in steps of 4 ms. */
  readonly cpu: number;
}

/** Checks in a thread, so that an endless check fails one test and does not hang the run. */
async function check(checks: readonly { schema: string | object; json: string }[], runs = 1): Promise<Result[]> {
  const worker = new Worker(new URL("./check-worker.ts", import.meta.url), {
    workerData: { schemas: OWN_SCHEMAS, checks, runs },
  });
  const { promise, resolve, reject } = Promise.withResolvers<Result[]>();
  worker.once("message", resolve).once("error", reject);
  const timer = setTimeout(() => reject(new Error("a check does not end")), 90_000);
  return promise.finally(() => {
    clearTimeout(timer);
    return worker.terminate();
  });
}

const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const list = (item: string, length: number): string => `[${Array(Math.ceil(length)).fill(item).join()}]`;

const UNITS = ["a", "0", "0x", "1.", " ", "é", "\ud83d\ude00", "https://a.", "2027-01-01T", "/roll/v1"];
/** Long JSON texts that nearly match a pattern or a format. */
const texts = (size: number): string[] => UNITS.map((unit) => JSON.stringify(`${unit.repeat(size / unit.length)}!`));

/** JSON of about this size: long, deep and wide values, and some with special names or numbers. */
const hostile = (size: number): string[] => [
  ...texts(size),
  deep(250),
  deep(size / 2),
  `${'{"a":'.repeat(size / 6)}1${"}".repeat(size / 6)}`,
  list("{}", size / 3),
  list("1", size / 2),
  `{${Array.from({ length: size / 12 }, (_, at) => `"k${at}":1`).join()}}`,
  '{"__proto__":{"tx":1},"constructor":{"prototype":1},"toString":null}',
  "1e400",
  "-0",
];

describe("a hostile value of a field that takes only objects and lists of its schema's", () => {
  const compile = createCompiler(new Map());
  const schemas = [{ const: { unit: "m", at: [1, 2] } }, { enum: ["m", { unit: "m", at: [1, 2] }, [[1, 2]]] }];
  const typesOf = (schema: object, json: string): readonly string[] =>
    compile(schema)
      .check(JSON.parse(json), "body", "input")
      .issues.map(({ type }) => type);

  it("is an ordinary fault, also where it has the name of a method that a comparison could call", () => {
    const names = ["valueOf", "toString", "toJSON", "constructor", "hasOwnProperty", "__proto__"];
    const values = names.flatMap((name) => ["1", "null", "{}"].map((value) => `{"${name}":${value}}`));
    for (const schema of schemas)
      for (const value of [...values, ...values.map((one) => `{"unit":"m","at":[1,${one}]}`), "[]", "{}", "null", "1"])
        expect(typesOf(schema, value), value).to.deep.equal(value === "null" ? ["missing"] : ["literal_error"]);
  });

  it("is none where it is equal, whatever the order of its fields", () => {
    for (const schema of schemas) expect(typesOf(schema, '{"at":[1,2],"unit":"m"}')).to.deep.equal([]);
    expect(typesOf(schemas[1] as object, "[[1,2]]")).to.deep.equal([]);
    expect(typesOf({ const: { valueOf: 1 } }, '{"valueOf":1}')).to.deep.equal([]);
    for (const value of ['{"at":[2,1],"unit":"m"}', '{"at":[1,2],"unit":"m","more":1}', "[[1],2]"])
      for (const schema of schemas) expect(typesOf(schema, value), value).to.deep.equal(["literal_error"]);
  });
});

/** Every schema with every hostile value, as the whole body and in each of its fields. */
const CHECKS = [...OWN_SCHEMAS].flatMap(([schema, document]) => {
  const names = Object.keys((document as { properties: object }).properties);
  const inEach = hostile(SIZE / names.length);
  const everywhere = inEach.map((json) => `{${names.map((name) => `"${name}":${json}`).join()}}`);
  return [...hostile(SIZE), ...everywhere].map((json) => ({ schema, json }));
});

describe("a hostile body", () => {
  let once: Promise<Result[]> | undefined;
  /** What all checks give when they are run once. */
  const checkOnce = (): Promise<Result[]> => {
    once ??= check(CHECKS);
    return once;
  };

  it("causes no exception with any schema, and gets a short answer", async () => {
    const results = await checkOnce();
    expect(results).to.have.length(CHECKS.length);
    for (const { issues, answer } of results) {
      expect(issues.length).to.be.at.most(100);
      expect(answer).to.be.below(SIZE);
    }
  });

  it("costs no schema of a request more than a few times what the worst JSON of its size costs to parse", async () => {
    const worst = JSON.stringify(Object.fromEntries(Array.from({ length: SIZE / 11 }, (_, at) => [`k${at}`, 1])));
    const parse = cpuOf(() => JSON.parse(worst), 50);
    const ofRequests = CHECKS.filter(({ schema }) => schema.endsWith("Request"));
    const isDear = (result?: Result): boolean => (result?.cpu ?? 0) > 5 * parse;
    const findDear = async (checks: typeof CHECKS, runs: number): Promise<typeof CHECKS> => {
      const results = await check(checks, runs);
      return checks.filter((_, at) => isDear(results[at]));
    };
    const first = await checkOnce();
    const suspects = CHECKS.filter((one, at) => ofRequests.includes(one) && isDear(first[at]));
    const dear = await findDear(await findDear(suspects, 3), 20);
    expect(ofRequests).to.have.length.above(100);
    expect(dear.map(({ schema, json }) => `${schema}: ${json.slice(0, 60)}`)).to.deep.equal([]);
  });

  it("does not fill the memory where each item of a list may have many forms", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `f${at}`);
    const form = { type: "object", properties: Object.fromEntries(names.map((name) => [name, {}])), required: names };
    const forms = names.map(() => form);
    const items = [form, { anyOf: forms }, { oneOf: forms }, { anyOf: [...forms, { type: "object" }] }];
    const checks = items.map((item) => ({ schema: { type: "array", items: item }, json: list("{}", SIZE / 3) }));
    const bounded = checks.map(({ schema, json }) => ({ schema: { ...schema, maxItems: 10 }, json }));
    const refused = ["missing"];
    expect((await check(checks)).map(({ issues }) => issues)).to.deep.equal([refused, refused, refused, []]);
    for (const { issues } of await check(bounded)) expect(issues).to.deep.equal(["too_long"]);
  });

  it("is not matched against a pattern when it is longer than its schema allows", async () => {
    const schema = { type: "string", maxLength: 10, pattern: "^(a+)+$" };
    const [result] = await check([{ schema, json: JSON.stringify(`${"a".repeat(60)}!`) }]);
    expect(result?.issues).to.deep.equal(["string_too_long"]);
  });

  it("is not compared pair by pair where its items must differ", async () => {
    const items = Array.from({ length: 20_000 }, (_, at) => ({ at, a: { b: "c" } }));
    const schema = { type: "array", items: { type: "object" }, uniqueItems: true };
    const checks = [items, [...items, items[0]]].map((value) => ({ schema, json: JSON.stringify(value) }));
    expect((await check(checks)).map(({ issues }) => issues)).to.deep.equal([[], ["value_error"]]);
  });

  it("is compared where its items must differ, whatever their fields are called", () => {
    const schema = {
      type: "object",
      properties: { list: { type: "array", items: { type: "object" }, uniqueItems: true } },
    };
    const { check: checkList } = createCompiler(new Map())(schema);
    const item = { a: { toString: 1, valueOf: null }, b: { toJSON: 1 } };
    const types = [
      [item, { b: 1 }],
      [item, { b: item.b, a: item.a }],
    ].map((list) => checkList({ list }, "body", "input").issues.map(({ type }) => type));
    expect(types).to.deep.equal([[], ["value_error"]]);
  });

  it("is not matched against a format when it is longer than any valid text", async () => {
    const formats = ["date-time", "date", "time", "duration", "uri", "uri-reference", "uri-template", "url", "email"];
    const more = ["hostname", "ipv4", "ipv6", "regex", "uuid", "json-pointer", "relative-json-pointer", "byte"];
    const checks = [...formats, ...more].flatMap((format) =>
      texts(SIZE).map((json) => ({ schema: { type: "string", format }, json })),
    );
    for (const { issues } of await check(checks)) expect(issues).to.have.length(1);
  });

  it("is matched in time against a format when it is as long as it may be", async () => {
    const texts = [...UNITS, "%41", "[::", "1.1.1.1", "a:", "//", "?", "a@"].flatMap((unit) =>
      ["", "https://", "https://a@", "https://[", "2027-01-01T00:00:00", "!"].map((start) =>
        JSON.stringify(`${start}${unit.repeat(2048)}`.slice(0, 2047).concat("!")),
      ),
    );
    const checks = ["date-time", "date", "uri", "uuid"].flatMap((format) =>
      texts.map((json) => ({ schema: { type: "string", format }, json })),
    );
    expect(await check(checks)).to.have.length(checks.length);
  });

  it("that is nested too deeply is refused with that reason", () => {
    const { check: checkAnchor } = createCompiler(OWN_SCHEMAS)("AnchorRequest");
    const [issue, ...others] = checkAnchor({ data: JSON.parse(deep(400)) }, "body").issues;
    expect(others).to.deep.equal([]);
    expect(issue).to.deep.include({ type: "value_error", msg: "Value error, nested more than 300 levels deep" });
    expect(checkAnchor({ data: JSON.parse(deep(250)) }, "body").issues).to.deep.equal([]);
  });
});
