import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { readStatus } from "../../../runtime/cli/operate/status.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";

describe("serve --workers, one of which is killed", () => {
  const data = createFolder();
  let seller: Seller;
  before(async () => {
    const dir = await makeDirectory(toShop([]));
    seller = await startSeller({ sandbox: await sharedSandbox(), dataDir: data, dir, args: ["--workers", "3"] });
  });
  after(() => seller.kill());

  const children = (): string[] =>
    readFileSync(`/proc/${seller.pid}/task/${seller.pid}/children`, "utf8").trim().split(" ");
  const sockets = (): string[] => readdirSync(data).filter((name) => name.endsWith(".sock"));

  it("keeps no socket of it, and ends in order while another one starts in its place", async () => {
    const pids = (await readStatus({ dataDir: data })).map(({ pid }) => pid);
    const victim = pids.find((pid) => sockets().includes(`admin-${pid}.sock`)) as number;
    process.kill(victim, "SIGKILL");
    await eventually(() => children().length === 3 && !children().includes(`${victim}`)); // It is not ready yet.
    const left = sockets();
    expect(await seller.stop()).to.equal(0);
    expect(seller.output()).to.include('"worker.died"').and.not.to.include('"worker.not-started"');
    expect([left, sockets()]).to.deep.equal([left.filter((name) => !name.includes(`${victim}`)), []]);
  });
});
