import { once } from "node:events";
import fs, { watch } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { watchFolder } from "../../../runtime/cli/serve/change/watch.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";

describe("a shop's folder that is watched", () => {
  it("is seen to change however files are saved: in place, by replacing them, and in folders that are replaced", async () => {
    const dir = await makeDirectory(TOSS);
    let seen = 0;
    const watched = watchFolder({
      dir,
      onChange: async () => {
        seen++;
      },
    });
    const sees = async (what: string, change: () => Promise<unknown>): Promise<void> => {
      const before = seen;
      await change();
      expect(await eventually(() => seen > before), what).to.equal(true);
    };
    const [manifest, draft] = [join(dir, "manifests/toss.yaml"), join(dir, "manifests/.toss.yaml.swp")];
    await writeFile(draft, "1"); // Drafts and backups belong to no set.
    await sees("the draft in the file's place", () => rename(draft, manifest));
    await sees("a change in place", () => writeFile(manifest, "2"));
    await sees("a backup", () => rename(manifest, `${manifest}~`));
    await sees("a new file", () => writeFile(manifest, "3"));
    await sees("a file less", () => rm(join(dir, "manifests/_site.yaml")));
    await sees("another change in place", () => writeFile(manifest, "4"));
    await sees("the folder's other name", () => rename(join(dir, "manifests"), join(dir, "former")));
    await sees("a new folder", () => mkdir(join(dir, "manifests")));
    await sees("a file in it", () => writeFile(manifest, "5"));
    await sees("a change of it", () => writeFile(manifest, "6"));
    watched.close();
  });

  it("is looked at again when a file was written anew with what it had, while it was read", async () => {
    const dir = await makeDirectory(TOSS);
    const manifest = join(dir, "manifests/toss.yaml");
    let seen = 0;
    const watched = watchFolder({
      dir,
      onChange: async () => {
        seen++;
        if (seen === 1) await writeFile(manifest, "1");
      },
    });
    await writeFile(manifest, "1");
    await eventually(() => seen === 2);
    watched.close();
  });

  it("is looked at once for each change, although one of its folders cannot be watched", async () => {
    const dir = await makeDirectory(TOSS);
    const own = watch(dir);
    let tried = 0;
    const watchReally = fs.watch;
    const limited = mock.method(fs, "watch", (folder: string, options: object, notice: () => void) => {
      if (!folder.endsWith("plugins")) return watchReally(folder, options, notice);
      tried++;
      throw new Error("ENOSPC: System limit for number of file watchers reached");
    });
    syncBuiltinESMExports();
    mock.timers.enable({ apis: ["setTimeout"] });
    const watched = watchFolder({ dir, onChange: async () => {} });
    try {
      const told = once(own, "change");
      await writeFile(join(dir, "start.log"), "{}");
      await told;
      for (let turn = 0; turn < 20; turn++) {
        await nextTurn();
        mock.timers.tick(1000);
      }
      expect(tried).to.be.within(2, 5);
    } finally {
      watched.close();
      own.close();
      mock.timers.reset();
      limited.mock.restore();
      syncBuiltinESMExports();
    }
  });

  it("is not seen to change when a file of it does that belongs to no set, such as a log", async () => {
    const dir = await makeDirectory(TOSS);
    mock.timers.enable({ apis: ["setTimeout"] });
    const own = watch(dir);
    let seen = 0;
    const watched = watchFolder({ dir, onChange: async () => void seen++ });
    try {
      for (const [name, times] of [
        ["start.log", 0],
        ["package.json", 1],
      ] as const) {
        const told = once(own, "change");
        await writeFile(join(dir, name), "{}");
        await told;
        await nextTurn();
        mock.timers.tick(1000);
        await nextTurn();
        expect(seen, name).to.equal(times);
      }
    } finally {
      watched.close();
      own.close();
      mock.timers.reset();
    }
  });

  for (const when of ["just after a change", "while a change is handled"])
    it(`is not looked at any more once the watch was closed, ${when}`, async () => {
      const dir = await makeDirectory(TOSS);
      const own = watch(join(dir, "manifests"));
      const change = async (text: string): Promise<void> => {
        const told = once(own, "change");
        await writeFile(join(dir, "manifests/toss.yaml"), text);
        await told;
        await nextTurn();
      };
      const handled = Promise.withResolvers<void>();
      let seen = 0;
      mock.timers.enable({ apis: ["setTimeout"] });
      const onChange = (): Promise<void> => {
        seen++;
        return handled.promise;
      };
      const watched = watchFolder({ dir, onChange });
      try {
        await change("1");
        if (when !== "just after a change") mock.timers.tick(1000);
        await nextTurn();
        const before = seen;
        watched.close();
        handled.resolve();
        await nextTurn();
        mock.timers.tick(1000);
        await change("2");
        mock.timers.tick(1000);
        await nextTurn();
        expect(seen).to.equal(before);
        expect(before).to.equal(when === "just after a change" ? 0 : 1);
      } finally {
        watched.close();
        own.close();
        mock.timers.reset();
      }
    });
});
