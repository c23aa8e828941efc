import { expect } from "chai";
import fc from "fast-check";
import { readJson } from "../../../runtime/cli/set/read-json.ts";
import { readYaml } from "../../../runtime/cli/set/read-yaml.ts";
import type { Path } from "../../../runtime/core/schema/nodes.ts";
import type { Position, SourceFile } from "../../../runtime/core/set/faults.ts";

const json = fc.jsonValue({ maxDepth: 4 }).filter((data) => typeof data === "object" && data !== null);

/** Every value in the data, with its path. */
function* valuesIn(data: unknown, path: Path = []): Generator<[path: Path, value: unknown]> {
  yield [path, data];
  if (typeof data !== "object" || data === null) return;
  const steps = Array.isArray(data) ? [...data.entries()] : Object.entries(data);
  for (const [step, value] of steps) yield* valuesIn(value, [...path, step]);
}

/** The text from a place on. */
function textAt(text: string, { line, column }: Position): string {
  const lines = text.split("\n").slice(line - 1);
  return [(lines[0] as string).slice(column - 1), ...lines.slice(1)].join("\n");
}

function expectPlaces(text: string, { data, locate }: SourceFile): void {
  for (const [path, value] of valuesIn(data)) {
    const start = Array.isArray(value) ? "[" : typeof value === "object" && value ? "{" : JSON.stringify(value);
    expect(textAt(text, locate(path)).startsWith(start), JSON.stringify(path)).to.equal(true);
    const key = path.at(-1);
    if (typeof key === "string")
      expect(textAt(text, locate(path, "key")).startsWith(JSON.stringify(key)), `key ${key}`).to.equal(true);
  }
}

describe("the places in a file", () => {
  it("are those of its keys and values, in JSON", () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 2, "\t"), (data, space) => {
        const text = JSON.stringify(data, null, space);
        const { source, faults } = readJson("x.json", text);
        expect(faults).to.deep.equal([]);
        expectPlaces(text, source as SourceFile);
      }),
    );
  });

  it("are those of its keys and values, in YAML", () => {
    fc.assert(
      fc.property(json, (data) => {
        const text = JSON.stringify(data, null, 2);
        expectPlaces(text, readYaml("x.yaml", text).source as SourceFile);
      }),
    );
  });

  it("are the nearest ones for what is not there", () => {
    const text = '{\n  "a": { "b": [1, 2] }\n}';
    for (const { source } of [readJson("x", text), readYaml("x", text)]) {
      expect(source?.locate(["a", "b", 7])).to.deep.equal({ line: 2, column: 15 });
      expect(source?.locate(["a", "c"], "key")).to.deep.equal({ line: 2, column: 8 });
      expect(source?.locate(["z", "y"])).to.deep.equal({ line: 1, column: 1 });
    }
  });

  it("are found behind a byte order mark, which Windows programs write", () => {
    const { source, faults } = readJson("x", '\ufeff{ "a": 1 }');
    expect(faults).to.deep.equal([]);
    expect(source?.data).to.deep.equal({ a: 1 });
    expect(source?.locate(["a"])).to.deep.equal({ line: 1, column: 8 });
  });

  it("are found for each way in which JSON can be broken", () => {
    const valid = JSON.stringify({ a: [1, -2.5e3, 'x\\"\n', true, null], b: { c: {} } }, null, 2);
    for (let at = 0; at < valid.length; at++) {
      const [fault, ...others] = readJson("x", `${valid.slice(0, at)}\u0001${valid.slice(at)}`).faults;
      expect(others).to.deep.equal([]);
      expect(fault, `broken at ${at}`).to.include({ code: "syntax-error" });
      const before = valid.slice(0, at).split("\n");
      expect([fault?.line, fault?.column], `broken at ${at}`).to.deep.equal([
        before.length,
        (before.at(-1) ?? "").length + 1,
      ]);
    }
  });
});
