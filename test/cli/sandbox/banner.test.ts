import { expect } from "chai";
import { toBanner } from "../../../runtime/cli/sandbox/banner.ts";
import { toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import type { SandboxDescription } from "../../../runtime/sandbox/open-sandbox.ts";
import { edit, type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { noStatus } from "../../support/sellers/call.ts";

/** The banner of a sandbox that sells these files. */
async function bannerOf(files: Files, url = "http://127.0.0.1:4021"): Promise<string> {
  const set = await loadSet(await makeDirectory(files));
  const { handlers } = await loadPlugins(set, { ...toIdleLent(set), env: {} });
  const services = bindServices(set.manifests, { site: set.site, compile: set.compile, handlers, statusOf: noStatus });
  return toBanner({ url, services }, { rpc: {}, facilitator: "" } as SandboxDescription, set.site);
}

describe("the banner of a sandbox", () => {
  it("suggests to buy what is sold here, on the rails that are here", async () => {
    const banner = await bannerOf(TOSS);
    expect(banner).to.include(`npx payphone call toss '{"coins":2}'`).and.not.include("--url");
    expect(banner).to.include("--rail base, solana or polygon.");
  });

  it("aligns the addresses, however long a rail's title is", async () => {
    const long = edit(TOSS, "manifests/_site.yaml", "title: USDC on Base\n", "title: USDC on Base Sepolia\n");
    const banner = await bannerOf(long);
    const places = ["  USDC on Solana ", "  USDC on Base Sepolia ", "  buyer's keys "].map((start) => {
      const line = banner.split("\n").find((one) => one.startsWith(start)) ?? "";
      return line.search(/\S+$/);
    });
    expect(new Set(places).size, banner).to.equal(1);
  });

  it("names the seller in the command where it is not the usual one", async () => {
    expect(await bannerOf(TOSS, "http://127.0.0.1:5000")).to.include(`'{"coins":2}' --url http://127.0.0.1:5000`);
  });

  it("suggests nothing where nothing is sold", async () => {
    const free = edit(TOSS, "manifests/toss.yaml", 'price: "0.01"\n', "");
    expect(await bannerOf(free))
      .to.include("/v1/toss  free")
      .and.not.include("npx");
    expect(await bannerOf({ "manifests/_site.yaml": TOSS["manifests/_site.yaml"]! })).to.not.include("npx");
  });
});
