import { expect } from "chai";
import { stringify } from "yaml";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { makeDirectory, removeDirectories } from "../../core/set/served-directory.ts";
import { sharedSandbox, site } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createDataDir } from "../../support/sellers/seller.ts";

const DEVNET = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

describe("payphone books verify with a node of another chain", () => {
  const data = createDataDir();
  before(async () => (await openStore({ dataDir: data.path })).close());
  after(async () => {
    data.remove();
    await removeDirectories();
  });

  it("names the rail, and compares the others", async () => {
    const { env } = await sharedSandbox();
    const rails = site.rails.map((rail) => (rail.id === "solana" ? { ...rail, network: DEVNET } : rail));
    const dir = await makeDirectory({ "manifests/_site.yaml": stringify({ ...site, rails }) });
    const other = { ...env, PAYPHONE_DATA_DIR: data.path, BASE_RPC_URL: env.POLYGON_RPC_URL as string };
    const { out, err, code } = await runPayphone(["books", "verify", "--dir", dir], other);
    expect(err.match(/^\w+: not compared: .*(?:chain 137 instead of 8453|another chain)/gm), err).to.have.length(2);
    expect([code, out.match(/^\w+(?=:)/gm)], out).to.deep.equal([1, ["polygon"]]);
  });
});
