import { expect } from "chai";
import { removeDirectories } from "../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";

describe("/metrics", () => {
  let shop: OperatedShop;
  before(async () => {
    shop = await openOperatedShop();
  });
  after(async () => {
    await shop.close();
    await removeDirectories();
  });

  it("tells the operator's Prometheus how the shop stands, and nobody else", async () => {
    await fetch(`${shop.running.url}/v1/toss`, { method: "POST" });
    const response = await shop.admin("/metrics");
    expect(response.headers.get("content-type")).to.match(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).to.include('payphone_rail_up{rail="base"} 1');
    expect(text, "at once").to.include('payphone_challenges_total{service="toss",door="rest"} 1');
    expect(text).to.include('payphone_refunds_pending{state="manual"} 0');
    expect(text).to.match(/^payphone_treasury_native_balance\{network="eip155:137"\} [\d.]+$/m);
    expect(text).to.match(/^nodejs_eventloop_lag_p99_seconds [\d.]+$/m);
    expect((await fetch(`${shop.running.admin.url}/metrics`)).status).to.equal(401);
    expect((await fetch(`${shop.running.url}/metrics`)).status, "where buyers are").to.equal(404);
  });
});
