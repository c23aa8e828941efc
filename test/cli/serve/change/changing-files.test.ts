import { rm } from "node:fs/promises";
import { expect } from "chai";
import { readFolder } from "../../../../runtime/cli/history/folder.ts";
import { type Changes, createChanges } from "../../../../runtime/cli/serve/change/changes.ts";
import { createPast, type Past } from "../../../../runtime/cli/serve/change/past.ts";
import type { Swap } from "../../../../runtime/cli/serve/change/swap.ts";
import { loadSet } from "../../../../runtime/cli/set/load.ts";
import { createLog } from "../../../../runtime/drivers/log.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { createFolder } from "../../../support/folder.ts";

describe("a folder that changes while it is read", () => {
  let sold: string[];

  /** The changes of a shop that sells for 0.01, in whose folder the price was set to 0.02 and rises at each examination. */
  async function open(rises: number): Promise<Changes> {
    sold = [];
    const dir = await makeDirectory(TOSS);
    const first = { set: await loadSet(dir), folder: readFolder(dir) };
    const setPrice = (cents: number) => writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", `0.0${cents}`));
    await setPrice(2);
    let examined = 0;
    const swap: Pick<Swap, "change"> = {
      async change({ set }) {
        sold.push(...set.manifests.map(({ price }) => price ?? "free"));
        return { prepareMs: 0, swapMs: 0 };
      },
    };
    const past: Pick<Past, "before" | "keep" | "between" | "note"> = {
      before: () => undefined,
      keep: async () => {},
      between: async () => [],
      note: async () => {},
    };
    return createChanges({
      first,
      swap: swap as Swap,
      past: { history: { list: async () => [] }, ...past } as unknown as Past,
      async examine() {
        if (examined < rises) await setPrice(3 + examined);
        examined += 1;
      },
      announce: async () => {},
      agree() {},
      log: createLog({ level: "silent" }),
    });
  }

  it("is read anew, and sold as it is in the end", async () => {
    const { changes } = await (await open(2)).apply("signal");
    expect(changes.map(({ text }) => text)).to.deep.equal(["$0.01 → $0.04 (+300 %)"]);
    expect(sold).to.deep.equal(["0.04"]);
  });

  it("is not sold when it goes on changing, and whoever asked for it is told to try again", async () => {
    const changes = await open(3);
    const failure = await changes.apply("signal").catch((error: unknown) => error);
    expect(String(failure)).to.match(/The files in .+ change while they are read; try again$/);
    expect(sold).to.deep.equal([]);
  });
});

describe("a process that could not be told of a change, because it was starting", () => {
  it("sells the set that was sold last, once, and makes no entry of its own", async () => {
    const [dir, other, dataDir] = [await makeDirectory(TOSS), await makeDirectory(TOSS), createFolder()];
    const first = { set: await loadSet(dir), folder: readFolder(dir) };
    const log = createLog({ level: "silent" });
    const past = createPast({ dataDir, home: dir, log });
    await writeFiles(other, edit(TOSS, "manifests/toss.yaml", "0.01", "0.02"));
    const last = readFolder(other);
    await past.keep({ set: await loadSet(other), folder: last });
    const at = "2026-01-01T00:00:00Z";
    await past.note({ digest: last.digest, at, by: "alice", what: "apply", changes: [] });
    const sold: (string | undefined)[] = [];
    const swap: Pick<Swap, "change"> = {
      async change({ set }) {
        sold.push(...set.manifests.map(({ price }) => price));
        return { prepareMs: 0, swapMs: 0 };
      },
    };
    const terms = { first, isFollower: true, past, examine: async () => {}, announce: async () => {}, agree() {}, log };
    const changes = createChanges({ ...terms, swap: swap as Swap });
    await changes.follow();
    await changes.follow();
    expect([sold, changes.digest()]).to.deep.equal([["0.02"], last.digest]);
    expect((await changes.history()).map(({ by }) => by)).to.deep.equal(["alice"]);
  });
});

describe("a folder that cannot be read any more", () => {
  it("keeps nobody from going back to an earlier set", async () => {
    const dir = await makeDirectory(edit(TOSS, "manifests/toss.yaml", "0.01", "0.02"));
    const log = createLog({ level: "silent" });
    const past = createPast({ dataDir: createFolder(), home: dir, log });
    const first = { set: await loadSet(dir), folder: readFolder(dir) };
    const sold: (string | undefined)[] = [];
    const swap: Pick<Swap, "change"> = {
      async change({ set }) {
        sold.push(...set.manifests.map(({ price }) => price));
        return { prepareMs: 0, swapMs: 0 };
      },
    };
    const terms = { first, past, examine: async () => {}, announce: async () => {}, agree() {}, log };
    const changes = createChanges({ ...terms, swap: swap as Swap });
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.03"));
    await changes.apply("alice");
    await rm(dir, { recursive: true });
    await changes.rollback(1, "alice");
    expect(sold).to.deep.equal(["0.03", "0.02"]);
    expect((await changes.history()).at(-1))
      .to.deep.include({ what: "rollback" })
      .and.not.have.property("refused");
  });
});
