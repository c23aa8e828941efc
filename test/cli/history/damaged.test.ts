import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { appendFile, mkdir, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { createHistory, type History, type HistoryEntry } from "../../../runtime/cli/history/history.ts";
import { createPast } from "../../../runtime/cli/serve/change/past.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { createFolder } from "../../support/folder.ts";

describe("the history of a shop whose files something else has changed", () => {
  let dataDir: string;
  let history: History;
  beforeEach(async () => {
    dataDir = createFolder();
    await mkdir(join(dataDir, "sets"));
    history = createHistory(dataDir);
  });

  it("skips lines that are JSON and no entries of it", async () => {
    const sold: HistoryEntry = {
      digest: "0123456789abcdef",
      at: "2026-01-01T00:00:00Z",
      by: "a",
      what: "apply",
      changes: [],
    };
    const foreign = ["null", "1", '"text"', "[]", "{}", '{"digest":1}', JSON.stringify({ ...sold, changes: null })];
    await writeFile(join(dataDir, "sets/history.jsonl"), `${JSON.stringify(sold)}\n${foreign.join("\n")}\n`);
    expect(await history.list()).to.deep.equal([sold]);
    expect(await history.last()).to.deep.equal(sold);
  });

  for (const text of ["null", '{"version":2}', "[1]", "[{"])
    it(`loses nothing of a list of retired services that is ${text}`, async () => {
      await writeFile(join(dataDir, "sets/retired.json"), text);
      const dir = await makeDirectory(TOSS);
      const first = { set: await loadSet(dir), folder: readFolder(dir) };
      const past = createPast({ dataDir, home: dir, log: silentLog });
      expect(await past.atStart(first)).to.deep.equal([]);
      const at = new Date(0).toISOString();
      await past.note({ digest: first.folder.digest, at, by: "start", what: "start", changes: [] });
      const [aside] = readdirSync(join(dataDir, "sets")).filter((name) => name.startsWith("retired.json.damaged-"));
      expect(readFileSync(join(dataDir, "sets", aside as string), "utf8")).to.equal(text);
      expect(await history.retired()).to.deep.equal([]);
      expect((await history.last())?.digest).to.equal(first.folder.digest);
    });

  it("compares a start with no set that was sold before and cannot be read any more", async () => {
    const sold = readFolder(await makeDirectory({ ...TOSS, "manifests/_site.yaml": "name: [" }));
    await history.keep(sold);
    await history.add({ digest: sold.digest, at: "2026-01-01T00:00:00Z", by: "a", what: "apply", changes: [] });
    const dir = await makeDirectory(TOSS);
    const past = createPast({ dataDir, home: dir, log: silentLog });
    expect(await past.atStart({ set: await loadSet(dir), folder: readFolder(dir) })).to.deep.equal([]);
    expect(past.before()).to.equal(undefined);
  });

  it("deletes what a crash has left half-written, and nothing that is still being written", async () => {
    const folder = readFolder(await makeDirectory(TOSS));
    await history.keep(folder);
    const toDraft = (name: string): string => `${name}.${randomUUID()}`;
    const [old, recent, retired] = [toDraft(folder.digest), toDraft(folder.digest), toDraft("retired.json")];
    for (const name of [old, recent]) await mkdir(join(dataDir, "sets", name, "plugins"), { recursive: true });
    await writeFile(join(dataDir, "sets", retired), "[");
    const yesterday = Date.now() / 1000 - 86_400;
    for (const name of [old, retired, folder.digest]) await utimes(join(dataDir, "sets", name), yesterday, yesterday);
    await history.add({ digest: folder.digest, at: "2026-01-01T00:00:00Z", by: "a", what: "apply", changes: [] });
    const kept = [folder.digest, `${folder.digest}.files`, recent, "history.jsonl"];
    expect(readdirSync(join(dataDir, "sets"))).to.have.members(kept);
  });

  it("sells a kept set beside whose code its plugin has written a file", async () => {
    const folder = readFolder(await makeDirectory(TOSS));
    await history.keep(folder);
    const dir = (await history.find(folder.digest)) as string;
    await writeFile(join(dir, "plugins/seen.json"), "[]");
    expect(await history.find(folder.digest)).to.equal(dir);
    expect(readFolder(dir).digest).to.equal(folder.digest);
    expect([...readFolder(dir).files.keys()]).to.deep.equal([...folder.files.keys()]);
  });

  for (const [damage, said] of [
    [(dir: string) => appendFile(join(dir, "plugins/toss.ts"), "\n"), "plugins/toss.ts was changed"],
    [(dir: string) => rm(join(dir, "plugins/toss.ts")), "plugins/toss.ts is missing"],
    [(dir: string) => writeFile(join(dir, "manifests/more.yaml"), "id: more\n"), "manifests/more.yaml was added"],
    [(dir: string) => writeFile(join(dir, "package.json"), "{}"), "package.json was added"],
  ] as const)
    it(`says of a kept set that ${said}`, async () => {
      const folder = readFolder(await makeDirectory(TOSS));
      await history.keep(folder);
      await damage(join(dataDir, "sets", folder.digest));
      expect(await history.find(folder.digest)).to.equal(undefined);
      expect(history.explain(folder.digest).endsWith(`: ${said}`), history.explain(folder.digest)).to.equal(true);
    });
});
