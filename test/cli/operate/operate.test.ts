import { execFile } from "node:child_process";
import { expect } from "chai";
import { edit, makeDirectory, removeDirectories, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { INHERITED } from "../../support/inherited.ts";
import { createDataDir, type Seller, startSeller } from "../../support/sellers/seller.ts";

/** `os.userInfo` fails for a user that the system has no name for. */
const NAMELESS = `data:text/javascript,${encodeURIComponent(`
  import os from "node:os";
  import { syncBuiltinESMExports } from "node:module";
  os.userInfo = () => { throw new Error("uv_os_get_passwd returned ENOENT"); };
  syncBuiltinESMExports();
`)}`;

describe("a command to a shop that runs", function () {
  this.timeout(180_000);
  const data = createDataDir();
  let dir: string;
  let seller: Seller;

  before(async () => {
    dir = await makeDirectory(TOSS);
    seller = await startSeller({ sandbox: await sharedSandbox(), dataDir: data.path, dir });
  });
  after(async () => {
    await seller.stop();
    data.remove();
    await removeDirectories();
  });

  function type(...args: string[]): Promise<{ code: number; said: string }> {
    const env = { ...INHERITED, PAYPHONE_DATA_DIR: data.path };
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: dir, env, timeout: 60_000 }, (error, out, err) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, said: out + err }),
      );
    });
  }

  it("may come from a user without a name, as containers have them", async () => {
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.02"));
    const applied = await type("--import", NAMELESS, LAUNCHER, "apply");
    expect(applied.code, applied.said).to.equal(0);
    expect((await type(LAUNCHER, "history")).said).to.include(` by user ${process.getuid?.()}\n`);
    const trusted = await type("--import", NAMELESS, LAUNCHER, "trust", "remote");
    expect(trusted).to.deep.equal({ code: 0, said: "nothing to do: remote is trusted\n" });
  });
});
