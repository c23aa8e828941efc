import { expect } from "chai";
import { readFolder } from "../../../../runtime/cli/history/folder.ts";
import { type Changes, createChanges } from "../../../../runtime/cli/serve/change/changes.ts";
import type { Past } from "../../../../runtime/cli/serve/change/past.ts";
import type { Swap } from "../../../../runtime/cli/serve/change/swap.ts";
import { loadSet } from "../../../../runtime/cli/set/load.ts";
import { createLog } from "../../../../runtime/drivers/log.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../../core/set/served-directory.ts";

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
    const past: Pick<Past, "keep" | "between" | "note"> = {
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
