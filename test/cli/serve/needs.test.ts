import { expect } from "chai";
import { edit, makeDirectory, removeDirectories, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { createDataDir, startSeller } from "../../support/sellers/seller.ts";

describe("a server whose plugin needs variables", function () {
  this.timeout(60_000);
  after(removeDirectories);

  it("starts all the same, and its log names those that are not set", async () => {
    const sandbox = await sharedSandbox();
    const dir = await makeDirectory(edit(TOSS, "manifests/toss.yaml", "tags:", "needs: [COIN, EDGE]\ntags:"));
    const data = createDataDir();
    const seller = await startSeller({ sandbox, dataDir: data.path, dir, env: { COIN: "euro" } });
    await seller.stop();
    data.remove();
    const lines = seller.output().split("\n");
    const unset = lines.filter((line) => line.includes("plugin.variable-unset")).map((line) => JSON.parse(line));
    expect(unset).to.have.length(1);
    expect(unset[0]).to.include({ level: "warn", service: "toss", variable: "EDGE" });
  });
});
