import { execFile } from "node:child_process";
import { realpath, rm, symlink } from "node:fs/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { askProcess, findProcesses } from "../../../runtime/cli/operate/ask.ts";
import type { StatusReport } from "../../../runtime/cli/serve/admin/routes.ts";
import { edit, makeDirectory, writeFiles } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { LAUNCHER, typePayphone } from "../../support/commands/commands.ts";
import { INHERITED } from "../../support/inherited.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { startSeller } from "../../support/sellers/seller.ts";

/** On one rail, with which it starts sooner. */
const SHOP = toShop([]);

/** `os.userInfo` fails for a user that the system has no name for. */
const NAMELESS = `data:text/javascript,${encodeURIComponent(`
  import os from "node:os";
  import { syncBuiltinESMExports } from "node:module";
  os.userInfo = () => { throw new Error("uv_os_get_passwd returned ENOENT"); };
  syncBuiltinESMExports();
`)}`;

describe("a command to a shop that runs", () => {
  let shop: OperatedShop;
  let [dir, data] = ["", ""];
  before(async () => {
    shop = await openOperatedShop(SHOP);
    ({ dir, dataDir: data } = shop);
  });
  after(() => shop.close());

  const type = (...args: string[]) => typePayphone(dir, args, { PAYPHONE_DATA_DIR: data });

  it("may come from a user without a name, as containers have them", async () => {
    await writeFiles(dir, edit(SHOP, "manifests/toss.yaml", "0.01", "0.02"));
    const env = { ...INHERITED, PAYPHONE_DATA_DIR: data };
    const typeNameless = (...args: string[]) =>
      promisify(execFile)(process.execPath, ["--import", NAMELESS, LAUNCHER, ...args], { cwd: dir, env });
    await typeNameless("apply");
    expect((await type("history")).said).to.include(` by user ${process.getuid?.()}\n`);
    const { stdout } = await typeNameless("trust", "remote");
    expect(stdout).to.equal("nothing to do: remote is trusted\n");
  });

  it("is refused where it means another folder than the one that is sold", async () => {
    const other = await makeDirectory(edit(SHOP, "manifests/toss.yaml", "0.01", "0.05"));
    for (const name of ["diff", "apply"]) {
      const { code, said } = await type(name, "--dir", other);
      expect(code, said).to.equal(2);
      expect(said).to.match(/^payphone: The process that runs sells the folder .*, and not /);
      expect(said).to.include(`sells the folder ${await realpath(dir)}, and not ${other}: `);
    }
    const link = `${other}-link`;
    await symlink(dir, link);
    expect((await type("apply", "--dir", link)).code).to.equal(0);
    await rm(link);
  });

  it("names processes that sell different sets, and is on record for all machines at once", async () => {
    await writeFiles(dir, edit(SHOP, "manifests/toss.yaml", "0.01", "0.03"));
    const { sandbox, running } = shop;
    const second = await startSeller({ sandbox, dataDir: data, dir, baseUrl: running.url });
    try {
      expect((await type("status")).said).to.match(/^warning +The processes sell different sets: \w{16} by /m);
      expect((await type("apply")).said).to.include(" is sold now by 2 processes: ");
      const [asked] = await findProcesses(data);
      const { set, processes } = await askProcess<StatusReport>(asked as string, "GET", "/status");
      expect(processes.map((process) => process.set)).to.deep.equal([set, set]);
    } finally {
      await second.stop();
    }
  });
});
