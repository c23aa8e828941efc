import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type Running, run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { type Files, makeDirectory, writeFiles } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "../../support/chains/facilitator-proxy.ts";
import { createFolder } from "../../support/folder.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { json, type PayingFetch, stockFetch } from "../../support/sellers/stock-buyer.ts";

const SITE = "manifests/_site.yaml";

/** A shop whose rail names one facilitator, which is at this address. */
function settledAt(url: string): Files {
  const shop = toShop([], [`facilitators: [{ id: own, url: "${url}" }]\n`]);
  return { ...shop, [SITE]: (shop[SITE] ?? "").replace("facilitator: remote", "facilitator: own") };
}

describe("a change of facilitators alone", () => {
  const data = createFolder();
  let dir: string;
  let running: Running;
  let pay: PayingFetch;
  let proxies: FacilitatorProxy[];

  before(async () => {
    const sandbox = await sharedSandbox();
    const { facilitator } = sandbox.description;
    proxies = await Promise.all([startFacilitatorProxy(facilitator), startFacilitatorProxy(facilitator)]);
    dir = await makeDirectory(settledAt(proxies[0]?.url ?? ""));
    const config = readConfig({ ...sandbox.env, PAYPHONE_DATA_DIR: data, PORT: "0", LOG_LEVEL: "silent" });
    running = await run({ set: await loadSet(dir), config });
    await untilRailsUp(running.url);
    pay = await stockFetch(sandbox, "base");
  });
  after(async () => {
    await running.close();
    await Promise.all(proxies.map(({ stop }) => stop()));
  });
  const settled = (): readonly number[] => proxies.map(({ asked }) => asked.settle);
  const buy = async (): Promise<number> => (await pay(`${running.url}/v1/toss`, json({}))).status;

  it("has payments settled by the new one from then on", async () => {
    expect([await buy(), settled()]).to.deep.equal([200, [1, 0]]);
    await writeFiles(dir, settledAt(proxies[1]?.url ?? ""));
    const { changes } = await running.changes.apply("test");
    expect(changes.map(({ text }) => text)).to.deep.equal(["facilitator own: url changed"]);
    expect([await buy(), settled()]).to.deep.equal([200, [1, 1]]);
  });

  it("is refused as a whole when nobody is there, and the earlier one goes on", async () => {
    await writeFiles(dir, settledAt("http://127.0.0.1:9")); // Nobody is there.
    const refused = await running.changes.apply("test").catch((error: Error) => error.message);
    expect(refused).to.match(/^toss could not be paid on any rail \(base: /);
    expect([await buy(), settled()]).to.deep.equal([200, [1, 2]]);
  });
});
