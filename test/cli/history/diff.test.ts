import { readdirSync, writeFileSync } from "node:fs";
import { appendFile, open, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mock } from "node:test";
import { expect } from "chai";
import { diffSets } from "../../../runtime/cli/history/diff.ts";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { createHistory, type HistoryEntry } from "../../../runtime/cli/history/history.ts";
import { retire } from "../../../runtime/cli/history/retired.ts";
import { toDistinct } from "../../../runtime/cli/serve/change/changes.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { JOB_KEEP_MS } from "../../../runtime/core/refunds/records.ts";
import type { Manifest } from "../../../runtime/core/set/manifest.ts";
import { edit, type Files, FX, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { createFolder } from "../../support/folder.ts";

describe("the difference of two sets", () => {
  const changes = async (before: Files, after: Files): Promise<string[]> => {
    const [one, two] = [await loadSet(await makeDirectory(before)), await loadSet(await makeDirectory(after))];
    return diffSets(one, two).map(({ kind, isBreaking, text }) => `${kind}${isBreaking ? "!" : ""}: ${text}`);
  };

  it("lists services, prices, routes, terms, rails, limits and texts", async () => {
    const { "manifests/toss.yaml": _, ...without } = TOSS;
    const toss = (from: string, to: string): Files => edit(TOSS, "manifests/toss.yaml", from, to);
    const site = (from: string, to: string): Files => edit(TOSS, "manifests/_site.yaml", from, to);
    const second = site("limits:", "facilitators:\n  - { id: second, url: https://second.example }\nlimits:");
    const named = edit(TOSS, "schemas/TossRequest.json", '"label"', '"name"');
    const wanted: readonly (readonly [Files, Files, string[]])[] = [
      [TOSS, TOSS, []],
      [without, TOSS, ["added: POST /v1/toss  $0.01"]],
      [TOSS, without, ["removed!: POST /v1/toss  $0.01"]],
      [TOSS, toss('"0.01"', '"0.015"'), ["price: $0.01 → $0.015 (+50 %)"]],
      [TOSS, toss('price: "0.01"\n', ""), ["price: $0.01 → free"]],
      [toss('price: "0.01"\n', ""), TOSS, ["price!: free → $0.01"]],
      [TOSS, toss("/v1/toss", "/v2/toss"), ["route!: POST /v1/toss is gone", "route: POST /v2/toss is new"]],
      [TOSS, toss("tags:", "charge: first\ntags:"), ['terms: charge unset → "first"']],
      [TOSS, toss("Coin toss", "Coins"), ["texts: title changed"]],
      [TOSS, site("unpaid_burst: ", "unpaid_burst: 1"), ["limits: unpaid_burst 300 → 1300"]],
      [TOSS, second, ["rails: facilitator second is new"]],
      [second, TOSS, ["rails: facilitator second is gone"]],
      [TOSS, named, ["schema!: input: label is gone (breaking)", "schema: input: name is new"]],
      [FX, edit(FX, "manifests/fx.yaml", "[200]", "[200, 404]"), ["sources: proxy changed"]],
      [FX, edit(FX, "manifests/fx.yaml", "EUR }", "USD }"), ['schema!: input: base: default "EUR" → "USD" (breaking)']],
      [FX, edit(FX, "manifests/fx.yaml", "EUR }", "EUR, title: In }"), ["texts: input: texts changed"]],
      [TOSS, toss("tags:", "# A remark.\ntags:"), []],
      [
        TOSS,
        edit(TOSS, "schemas/TossRequest.json", '"type"', '"title": "Toss", "type"'),
        ["texts: schema TossRequest: texts changed"],
      ],
      [TOSS, site("title: USDC on Base", "title: Dollars on Base"), ["rails: base: title changed"]],
    ];
    for (const [before, after, lines] of wanted) expect(await changes(before, after)).to.deep.equal(lines);
  });

  it("tells what is sold in place of half of a character, which earlier versions sold", async () => {
    const half = edit(TOSS, "manifests/toss.yaml", "coins: 2 }", 'coins: 2, cut: "\\ud83d" }');
    const request = edit(half, "schemas/TossRequest.json", '"label":', '"cut": { "default": "\\ud83d" }, "label":');
    expect(await changes(request, TOSS)).to.deep.equal([
      "schema!: input: cut is gone (breaking)",
      "texts: examples changed",
    ]);
  });

  it("counts an output that may say more as breaking, and one that has a new field as not", async () => {
    const response = (from: string, to: string): Files => edit(TOSS, "schemas/TossResponse.json", from, to);
    expect(await changes(TOSS, response('"required": ["sides"]', '"required": []'))).to.deep.equal([
      "schema!: output: sides is not required any more (breaking)",
    ]);
    expect(await changes(TOSS, response('"sides":', '"edge": {}, "sides":'))).to.deep.equal([
      "schema: output: edge is new",
    ]);
  });
});

describe("a service that a set does not offer any more", () => {
  const DAY = 24 * 60 * 60_000;

  it("is kept in mind for as long as what was bought can be asked for, and a day longer", async () => {
    const { "manifests/toss.yaml": _, ...without } = TOSS;
    const [set, next] = [await loadSet(await makeDirectory(TOSS)), await loadSet(await makeDirectory(without))];
    const [entry] = retire([], { digest: "d", set }, next, 0);
    expect(entry).to.include({ id: "toss", digest: "d" });
    expect(entry?.routes).to.deep.equal(["POST /v1/toss"]);
    const { until = 0 } = entry ?? {};
    expect(until).to.be.at.least(2 * DAY);
    expect(retire([entry!], undefined, next, until + DAY - 1)).to.deep.equal([entry]);
    expect(retire([entry!], undefined, next, until + DAY)).to.deep.equal([]);
    expect(retire([entry!], undefined, set, 1), "offered again").to.deep.equal([]);
    expect(retire([entry!], { digest: "e", set }, next, 1)).to.have.length(1);
  });

  it("is kept in mind for longer where the site keeps answers for longer, or where it sold a job", async () => {
    const set = await loadSet(await makeDirectory(TOSS));
    const next = { ...set, manifests: [] };
    const untilOf = (before: Pick<typeof set, "site" | "manifests">): number =>
      retire([], { digest: "d", set: before }, next, 0)[0]?.until ?? 0;
    const limits = { ...set.site.limits, answers_minutes: 600 };
    expect(untilOf({ ...set, site: { ...set.site, limits } }) - untilOf(set)).to.equal(600 * 60_000);
    const job = { status_route: "GET /v1/toss/{job_id}" } as NonNullable<Manifest["job"]>;
    const manifests = set.manifests.map((manifest) => ({ ...manifest, job }));
    expect(untilOf({ ...set, manifests })).to.equal(JOB_KEEP_MS);
  });
});

describe("the history of a shop", () => {
  const dataDir = createFolder();
  const entry = (digest: string, what: HistoryEntry["what"] = "apply"): HistoryEntry => ({
    digest,
    what,
    at: "2026-01-01T00:00:00Z",
    by: "alice",
    changes: [],
  });

  it("keeps the files of the last 20 sets and of retired services, and survives a line that was cut off", async () => {
    const history = createHistory(dataDir);
    const digests: string[] = [];
    for (let price = 10; price < 32; price += 1) {
      const folder = readFolder(await makeDirectory(edit(TOSS, "manifests/toss.yaml", "0.01", `0.${price}`)));
      digests.push(folder.digest);
      await history.keep(folder);
      if (price === 10) await history.setRetired([{ id: "toss", digest: folder.digest, routes: [], until: 0 }]);
      await history.add(entry(folder.digest));
    }
    await appendFile(join(dataDir, "sets/history.jsonl"), '{"digest":"cut o');
    expect((await history.last())?.digest).to.equal(digests.at(-1));
    await history.add(entry(digests.at(-2) as string));
    expect(await history.list()).to.have.length(23);
    const kept = await Promise.all(digests.map((digest) => history.find(digest)));
    expect(kept.map((_, at) => at).filter((at) => kept[at] === undefined)).to.deep.equal([1]);
    const set = await loadSet(kept.at(-1) as string);
    expect(set.faults).to.deep.equal([]);
    expect(set.manifests[0]?.price).to.equal("0.31");
  });

  for (const [what, damage] of [
    ["a file was changed", (dir: string) => appendFile(join(dir, "manifests/toss.yaml"), "# cheaper\n")],
    ["a power cut has left an empty file", (dir: string) => truncate(join(dir, "manifests/_site.yaml"))],
    ["a file is missing", (dir: string) => rm(join(dir, "manifests/toss.yaml"))],
    ["a file was added", (dir: string) => writeFile(join(dir, "manifests/more.yaml"), "id: more\n")],
  ] as const)
    it(`sells no kept set of which ${what}, and keeps its files again when it is sold`, async () => {
      const history = createHistory(join(dataDir, what));
      const folder = readFolder(await makeDirectory(TOSS));
      await history.keep(folder);
      const dir = (await history.find(folder.digest)) as string;
      await damage(dir);
      expect(await history.find(folder.digest)).to.equal(undefined);
      await history.keep(folder);
      expect(await history.find(folder.digest)).to.equal(dir);
      expect(readFolder(dir).digest).to.equal(folder.digest);
    });

  it("has what is retired on the disk before the file takes its name: a power cut leaves no empty one", async () => {
    const history = createHistory(join(dataDir, "power"));
    await history.setRetired([]);
    await using handle = await open(join(dataDir, "power/sets/retired.json"));
    const synced = mock.method(Object.getPrototypeOf(handle), "sync");
    await history.setRetired([{ id: "toss", digest: "e", routes: [], until: 1 }]);
    synced.mock.restore();
    expect(synced.mock.callCount()).to.equal(1);
    expect(await history.retired()).to.have.length(1);
  });

  it("takes what an editor leaves beside a file for no part of a set, and all other hidden files for one", async () => {
    const dir = await makeDirectory(TOSS);
    const { digest } = readFolder(dir);
    const left = [".toss.ts.swp", ".toss.ts.swo", "4913", "toss.ts~", "#toss.ts#", ".#toss.ts", "toss.ts___jb_tmp___"];
    for (const name of left)
      for (const place of ["manifests", "plugins", "schemas"]) {
        await writeFile(join(dir, place, name), "draft");
        expect(readFolder(dir).digest, `${place}/${name}`).to.equal(digest);
      }
    expect((await loadSet(dir)).faults).to.deep.equal([]);
    await writeFile(join(dir, "plugins/.rates"), "data");
    expect(readFolder(dir).digest).not.to.equal(digest);
  });

  it("has the files behind a link to a folder, however links lead back to where they stand", async () => {
    const dir = await makeDirectory({ ...TOSS, "shared/rates.txt": "1" });
    await symlink(join(dir, "shared"), join(dir, "plugins/data"));
    await symlink(dir, join(dir, "shared/back"));
    await symlink(join(dir, "plugins"), join(dir, "shared/round"));
    const { digest, files } = readFolder(dir);
    expect([...files.keys()].filter((name) => name.startsWith("plugins/data"))).to.deep.equal([
      "plugins/data/rates.txt",
    ]);
    await writeFile(join(dir, "shared/rates.txt"), "2");
    expect(readFolder(dir).digest).not.to.equal(digest);
    await truncate(join(dir, "shared/rates.txt"), 16_000_001);
    expect(readFolder(dir).files.has("plugins/data/rates.txt"), "models and the like").to.equal(false);
    await truncate(join(dir, "shared/rates.txt"), 0);
    expect(readFolder(dir).files.has("plugins/data/rates.txt")).to.equal(true);
    for (let at = 0; at < 4000; at += 1) writeFileSync(join(dir, `shared/${at}`), "");
    expect(readFolder(dir).files.has("plugins/data/rates.txt"), "very many files").to.equal(false);
  });

  it("leaves nothing of a set whose files cannot be written", async () => {
    const other = join(dataDir, "other");
    const folder = readFolder(await makeDirectory(TOSS));
    const files = new Map([...folder.files, [`plugins/${"x".repeat(300)}`, Buffer.from("too long a name")]]);
    const failure = await createHistory(other)
      .keep({ ...folder, files })
      .catch((error: NodeJS.ErrnoException) => error.code);
    expect(failure).to.equal("ENAMETOOLONG");
    expect(readdirSync(join(other, "sets"))).to.deep.equal([]);
  });

  it("goes back by one set each time, past what was taken back", () => {
    const line = ["a", "b", "c"].map((digest) => entry(digest));
    expect(toDistinct(line, "c")).to.deep.equal(["a", "b"]);
    expect(toDistinct([...line, entry("b", "rollback")], "b")).to.deep.equal(["a"]);
    expect(toDistinct([...line, entry("b", "rollback"), entry("d")], "d")).to.deep.equal(["a", "b"]);
    expect(toDistinct([...line, entry("c", "start")], "c")).to.deep.equal(["a", "b"]);
  });
});
