import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { checkDir } from "../../../runtime/cli/set/check.ts";
import { FAULT_CODES, toFaultLine } from "../../../runtime/core/set/faults.ts";
import { edit, type Files, FX, makeDirectory, TOSS } from "./served-directory.ts";

/** One way to break the set, and the complete report. */
interface Case {
  readonly what: string;
  readonly edits?: readonly { readonly file: string; readonly from: string; readonly to: string }[];
  /** Files to add; null removes a file. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly faults: readonly string[];
}

const TABLES = ["manifests", "sites", "schemas", "plugins", "sets", "proxies"];

function readCases(table: string): readonly Case[] {
  return parse(readFileSync(join(import.meta.dirname, `../../fixtures/manifests/faulty-${table}.yaml`), "utf8"));
}

function toBroken({ edits = [], files = {} }: Case, table: string): Files {
  const sound = table === "proxies" ? FX : TOSS;
  const edited = edits.reduce<Files>((all, { file, from, to }) => edit(all, file, from, to), sound);
  const all = Object.entries({ ...edited, ...files });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

describe("a faulty set", () => {
  for (const table of TABLES)
    for (const faulty of readCases(table))
      it(`is refused for ${faulty.what} (${table})`, async () => {
        const dir = await makeDirectory(toBroken(faulty, table));
        const lines = (await checkDir(dir)).map((fault) => toFaultLine(fault).replaceAll(dir, "<dir>"));
        expect(lines).to.deep.equal(faulty.faults);
      });

  it("covers every code of FAULT_CODES", () => {
    const found = TABLES.flatMap(readCases).flatMap(({ faults }) => faults.map((line) => line.split(" ")[1]));
    // The other two are tested in test/core/set/manifests.test.ts: they need two similar file names, and another site.
    expect([...new Set([...found, "duplicate-id", "no-rail"])].sort()).to.deep.equal(Object.keys(FAULT_CODES).sort());
  });

  it("is read in time, also with a hundred thousand keys", async () => {
    const keys = Array.from({ length: 100_000 }, (_, at) => `  key${at}: 1\n`).join("");
    const many = edit(TOSS, "manifests/toss.yaml", "tags:", `pirce:\n${keys}tags:`);
    const lines = (await checkDir(await makeDirectory(many))).map(toFaultLine);
    expect(lines).to.deep.equal(['manifests/toss.yaml:9:1 unknown-key pirce: no such key; did you mean "price"?']);
  });

  it("is refused for an example of more bytes than a body may have, though of fewer characters", async () => {
    const small = edit(TOSS, "manifests/_site.yaml", "body_bytes: 1048576", "body_bytes: 1024");
    const open = edit(small, "schemas/TossRequest.json", '"maxLength": 20, "pattern": "^[a-z]+$"', '"maxLength": 1000');
    const long = edit(open, "manifests/toss.yaml", "{ coins: 2 }", `{ coins: 2, label: ${"\u00e9".repeat(510)} }`);
    const told = "a body may have 1024 bytes, but this example has 1042; set body_bytes";
    expect((await checkDir(await makeDirectory(long))).map(toFaultLine)).to.deep.equal([
      `manifests/toss.yaml:11:12 body-too-small examples[0].input: ${told}`,
    ]);
  });

  it("is refused for lists in lists without end", async () => {
    const deep = edit(TOSS, "manifests/toss.yaml", "[random, games]", "[".repeat(5_000));
    const [line, ...others] = (await checkDir(await makeDirectory(deep))).map(toFaultLine);
    expect(line).to.match(/^manifests\/toss\.yaml:9:\d+ syntax-error nested too deeply$/);
    expect(others).to.deep.equal([]);
  });
});

describe("a sound set", () => {
  it("has no faults, also at the least price that is settled", async () => {
    expect(await checkDir(await makeDirectory(TOSS))).to.deep.equal([]);
    const least = edit(TOSS, "manifests/toss.yaml", "0.01", "0.001");
    expect(await checkDir(await makeDirectory(least))).to.deep.equal([]);
  });

  it("has no faults when a handler has no rules of its own, and says whether it is ready", async () => {
    const set = edit(TOSS, "plugins/toss.ts", "toss({ coins }) {", "toss: { ready() {}, run() {} }, flip({ coins }) {");
    expect(await checkDir(await makeDirectory(set))).to.deep.equal([]);
  });

  it("has no faults when it is somebody else's service", async () => {
    expect(await checkDir(await makeDirectory(FX))).to.deep.equal([]);
    const any = edit(FX, "manifests/fx.yaml", "note: { type: string }", "note: true");
    expect(await checkDir(await makeDirectory(any)), "a field of any value").to.deep.equal([]);
  });

  it("has no faults when the text that it sends says UTF-8, with quotes or without", async () => {
    const lines = ['headers: { accept-language: "{language}" }', 'body: { note: "{note}", place: "{place}" }'];
    for (const charset of ["", "; charset=utf-8", ';charset="UTF-8"; action="urn:a"']) {
      const type = `headers: { content-type: 'application/soap+xml${charset}', accept-language: "{language}" }`;
      const text = [type, 'encoding: text\n  body: "<a>{note}{place.city}</a>"'];
      const sent = lines.reduce((all, line, at) => edit(all, "manifests/fx.yaml", line, text[at] as string), FX);
      const filled = edit(sent, "manifests/fx.yaml", "date: today }", "date: today, note: n, place: { city: c } }");
      expect(await checkDir(await makeDirectory(filled)), charset).to.deep.equal([]);
    }
  });
});
