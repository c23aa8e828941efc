import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { createAddressWatch } from "../../../runtime/cli/serve/address-watch.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { type LocalSeller, startLocalSeller } from "../../support/sellers/local-seller.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";

describe("a pay address that a node has not told about", () => {
  let time: FrozenTime;
  beforeEach(() => {
    time = freezeTime();
  });
  afterEach(() => time.thaw());

  it("is asked about again after five minutes, and then once a day", async () => {
    const rail = { id: "base", network: "eip155:8453", title: "USDC on Base", payTo: "0x2" };
    const known = { from: "0x1", nonce: "0x0", transaction: "0x7" } as const;
    let asked = 0;
    const incoming = async () => {
      asked += 1;
      if (asked === 1) throw new Error("the node is away");
      return [known];
    };
    const watch = createAddressWatch({ rails: [{ ...rail, incoming }], isKnown: async () => false, log: silentLog });
    watch.start();
    await time.pass(5000);
    expect([asked, watch.warnings()]).to.deep.equal([1, []]);
    await time.pass(5 * 60_000);
    expect([asked, watch.warnings().length]).to.deep.equal([2, 1]);
    await time.pass(23 * 60 * 60_000);
    expect(asked).to.equal(2);
    await time.pass(60 * 60_000);
    expect(asked).to.equal(3);
    watch.close();
  });
});

describe("a pay address", function () {
  this.timeout(90_000);
  const places = [createFolder(), createFolder()] as const;
  const address = `0x${randomBytes(20).toString("hex")}`; // Nobody else is paid there.
  let sandbox: TestSandbox;
  let set: ManifestSet;
  let sellers: LocalSeller[] = [];

  before(async () => {
    sandbox = await sharedSandbox();
    set = await loadSet(await makeDirectory(toShop([])));
  });
  afterEach(async () => {
    await Promise.all(sellers.map((seller) => seller.stop()));
    sellers = [];
  });

  async function serve(dataDir: string): Promise<LocalSeller> {
    const seller = await startLocalSeller({ sandbox, set, dataDir, env: { BASE_PAYMENT_ADDRESS: address } });
    sellers.push(seller);
    return seller;
  }
  const readinessOf = async ({ url }: LocalSeller): Promise<ReadyReport> =>
    (await (await fetch(`${url}/ready`)).json()) as ReadyReport;

  it("that two stores share is told by the one that does not know a settlement, and not by the other one", async () => {
    const seller = await serve(places[0]);
    const pay = await stockFetch(sandbox, "base");
    const response = await pay(`${seller.url}/v1/toss`, json({}));
    expect(response.status).to.equal(200);
    const { transaction } = receiptOf(response);

    const stranger = await serve(places[1]);
    await eventually(async () => (await readinessOf(stranger)).warnings !== undefined);
    const report = await readinessOf(stranger);
    expect(report.status).to.equal("ready");
    expect(report.warnings).to.have.length(1);
    expect(report.warnings?.[0]).to.match(/^1 recent payment of USDC on Base to 0x\w{40} is not in this store/);
    expect(report.warnings?.[0]).to.include(transaction);
    expect(report.warnings?.[0], "where it is the same shop").to.include(
      'restored from a backup, "payphone books verify"',
    );
    const told = stranger
      .output()
      .split("\n")
      .filter((line) => line.includes("rail.address-shared"));
    expect(told.map((line) => JSON.parse(line) as { level: string })[0]?.level).to.equal("warn");

    await stranger.stop();
    await seller.stop();
    sellers = [];
    const again = await serve(places[0]);
    await eventually(() => again.output().includes('"payments":1,"unknown":0'));
    expect((await readinessOf(again)).warnings).to.equal(undefined);
  });
});
