import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { writeTypes } from "../../../runtime/cli/set/types.ts";
import { edit, type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";

const ROOT = join(import.meta.dirname, "../../..");
const TYPES = "schemas/generated/services.ts";
const object = (properties: object, more: object = {}): string =>
  JSON.stringify({ type: "object", properties, ...more });

async function generate(files: Files): Promise<string> {
  const dir = await makeDirectory(files);
  await writeTypes(dir);
  return readFile(join(dir, TYPES), "utf8");
}

/** The generated text without its comments and the space around its lines. */
async function typesOf(files: Files): Promise<string> {
  const text = await generate({ ...TOSS, ...files });
  return text
    .replaceAll(/\/\*\*.*?\*\//gs, "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join("\n");
}

describe("the generated types", () => {
  it('are current in this project (if not: "npm run types")', async () => {
    expect(await writeTypes(ROOT, { check: true })).to.deep.equal([]);
  });

  it("say in their first line what they are made from and how", async () => {
    const [first] = (await generate(TOSS)).split("\n");
    expect(first).to.equal('// Generated from manifests/ and schemas/ by "payphone types". Do not edit.');
  });

  it("have one type for each schema, and each plugin's handlers with theirs", async () => {
    expect(await typesOf({})).to.equal(`// Generated from manifests/ and schemas/ by "payphone types". Do not edit.
export type Side = "heads" | "tails";
export interface TossRequest {
coins: number;
label?: string | null;
}
export interface TossResponse {
sides: Side[];
}
declare module "#plugin" {
interface Plugins {
toss: {
toss: { input: TossRequest; output: TossResponse };
};
}
}
export {};`);
  });

  it("give a handler its defaults as present, and let an output leave them out", async () => {
    const shared = object({ pair: { $ref: "Pair.json" } }, { required: ["pair"] });
    const text = await typesOf({
      "schemas/TossRequest.json": shared,
      "schemas/TossResponse.json": shared,
      "schemas/Pair.json": object({ a: { type: "integer", default: 1 }, b: { type: "integer" } }),
      "manifests/toss.yaml": edit(
        TOSS,
        "manifests/toss.yaml",
        "{ coins: 2 }\n    output: { sides: [heads, tails] }",
        "{ pair: {} }",
      )["manifests/toss.yaml"] as string,
    });
    expect(text).to.include("export interface Pair {\na?: number;\nb?: number;\n}");
    expect(text).to.include("export interface PairGiven {\na: number;\nb?: number;\n}");
    expect(text).to.include("export interface TossRequest {\npair: PairGiven;\n}");
    expect(text).to.include("export interface TossResponse {\npair: Pair;\n}");
  });

  it("have fields with the names of what every object has", async () => {
    const names = ["hasOwnProperty", "constructor", "toString", "valueOf", "__proto__"];
    const fields = `{${names.map((name) => `"${name}":{"type":"string","const":"${name}"}`)}}`;
    const text = await typesOf({
      "schemas/Names.json": `{"type":"object","properties":${fields},"required":${JSON.stringify(names)}}`,
    });
    const lines = names.map((name) => `${name}: "${name}";\n`).join("");
    expect(text).to.include(`export interface Names {\n${lines}}`);
  });

  it("promise no defaults where it is open which of several alternatives is meant", async () => {
    const filled = { type: "object", properties: { a: { type: "integer", default: 1 } } };
    const schema = { some: { anyOf: [filled, { type: "null" }] }, which: { anyOf: [filled, { type: "string" }] } };
    const text = await typesOf({ "schemas/TossRequest.json": object({ coins: { type: "integer" }, ...schema }) });
    expect(text).to.include("some?: {\na: number;\n} | null;\nwhich?:\n| {\na?: number;\n}\n| string;");
  });

  it("show what a type can say of a schema, and pass over the rest", async () => {
    const schema = {
      anything: { description: "ends a comment: */" },
      free: { type: "object" },
      map: { type: "object", additionalProperties: { type: "number" } },
      pair: { type: "array", items: { type: "integer" }, minItems: 2, maxItems: 2 },
      many: { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 9 },
      mixed: { type: "array", prefixItems: [{ type: "integer" }, { type: "string" }], items: false, minItems: 2 },
      either: { type: "object", properties: { a: {}, b: {} }, oneOf: [{ required: ["a"] }, { required: ["b"] }] },
      nullable: { anyOf: [{ $ref: "Side.json" }, { type: "null" }] },
      named: { $ref: "#/$defs/own-part" },
    };
    const $defs = {
      "own-part": { type: "object", properties: { next: { $ref: "#/$defs/own-part" }, all: { $ref: "#" } } },
    };
    expect(await typesOf({ "schemas/Shapes.json": object(schema, { $defs }) })).to.include(`export interface Shapes {
anything?: unknown;
free?: {
[k: string]: unknown;
};
map?: {
[k: string]: number;
};
pair?: [number, number];
many?: number[];
mixed?: [number, string];
either?: {
a?: unknown;
b?: unknown;
};
nullable?: Side | null;
named?: ShapesOwnPart;
}
export interface ShapesOwnPart {
next?: ShapesOwnPart;
all?: Shapes;
}`);
  });

  it("have each a name of its own, also where a part of one is called like another", async () => {
    const $defs = { request: { type: "integer" } };
    const schema = object({ count: { $ref: "#/$defs/request" } }, { $defs });
    const text = await typesOf({ "schemas/Toss.json": schema });
    expect(text).to.include("export interface Toss {\ncount?: TossRequest2;\n}\nexport type TossRequest2 = number;");
  });

  it("name a schema that stands in a manifest after its service, and let one handler serve two of them", async () => {
    const second = `id: toss_more
title: More tosses
description: Tosses again.
route: GET /v1/toss/more
handler: toss.toss
input: { type: object, properties: { coins: { type: integer, default: 2 } } }
output: TossResponse
tags: []
examples: [{ input: {} }]
`;
    const text = await typesOf({ "manifests/toss_more.yaml": second });
    expect(text).to.include("export interface TossMoreInput {\ncoins: number;\n}");
    expect(text).to.include("toss: { input: TossRequest | TossMoreInput; output: TossResponse };");
  });

  it("are written once, and called stale when a schema has changed", async () => {
    const dir = await makeDirectory(TOSS);
    const file = join(dir, TYPES);
    expect(await writeTypes(dir, { check: true })).to.deep.equal([TYPES]);
    expect(await readFile(file).catch(() => "absent"), "left alone by --check").to.equal("absent");
    expect(await writeTypes(dir)).to.deep.equal([TYPES]);
    expect(await writeTypes(dir)).to.deep.equal([]);
    await writeFile(join(dir, "schemas/Side.json"), '{ "enum": ["heads", "tails", "edge"] }');
    expect(await writeTypes(dir, { check: true })).to.deep.equal([TYPES]);
  });

  it("are those of manifests, too, where payphone's own directory has a file for them", async () => {
    const own = "schemas/generated/manifests.ts";
    const dir = await makeDirectory({ ...TOSS, [own]: "" });
    expect(await writeTypes(dir)).to.deep.equal([TYPES, own]);
    expect(await readFile(join(dir, own), "utf8")).to.equal(await readFile(join(ROOT, own), "utf8"));
  });

  it("are current with the line ends of Windows, too", async () => {
    const dir = await makeDirectory(TOSS);
    await writeTypes(dir);
    const file = join(dir, TYPES);
    await writeFile(file, (await readFile(file, "utf8")).replaceAll("\n", "\r\n"));
    expect(await writeTypes(dir, { check: true })).to.deep.equal([]);
  });

  it("are made beside a package.json with a byte order mark, and not beside one that is no JSON", async () => {
    const own = { ...TOSS, "package.json": '\uFEFF{ "dependencies": { "payphone": "*" } }' };
    expect(await generate(own)).to.include('declare module "payphone/plugin"');
    const thrown = await generate({ ...TOSS, "package.json": "{ no: 1 }" }).catch(String);
    expect(thrown).to.match(/^Problem: package\.json is no JSON: /);
  });

  it("are not made from a faulty set: its whole report is thrown", async () => {
    const dir = await makeDirectory(edit(TOSS, "manifests/toss.yaml", "POST", "PSOT"));
    const thrown = await writeTypes(dir).catch((error: unknown) => error);
    expect(
      (thrown as Error).message,
    ).to.equal(`manifests/toss.yaml:4:8 bad-route route "PSOT /v1/toss": no such method; did you mean "POST"?
1 fault in 1 file; this set is not sold until it is mended`);
  });
});
