import { createClient } from "@keyv/redis";
import { expect } from "chai";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { makePayment } from "../../core/jobs/crash-round.ts";
import { openErrands } from "../../core/jobs/errands.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { eventually } from "../../support/eventually.ts";
import { withRedis } from "../../support/programs.ts";
import { type LocalSeller, startLocalSeller } from "../../support/sellers/local-seller.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const EVICTS = "Redis may forget payments: its maxmemory-policy is volatile-ttl, set it to noeviction";
const REPLICA = "Redis is a replica and takes no writes: name its master in REDIS_URL, or make it one";
const FULL = "Redis is full and takes no writes: raise its maxmemory";
const LOST = "Redis has lost what payphone kept there: bring its data back, or restart payphone to begin without it";
const LOSES =
  "Redis may lose the newest payments when it crashes: set its appendonly to yes and its appendfsync to always";

withRedis.describe("a server whose Redis is changed while it sells", () => {
  let sandbox: TestSandbox;
  let redis: TestRedis;
  let client: ReturnType<typeof createClient>;
  let seller: LocalSeller;
  before(async () => {
    sandbox = await sharedSandbox();
    redis = await startRedis();
    client = createClient({ url: redis.url });
    client.on("error", () => {}); // When Redis is restarted.
    await client.connect();
    const { dir, log } = openErrands();
    const env = { REDIS_URL: redis.url, ERRAND_LOG: log, LOG_LEVEL: "warn" };
    seller = await startLocalSeller({ sandbox, set: await loadSet(dir), env });
  });
  after(async () => {
    await seller?.stop();
    await client.close();
    await redis.stop();
  });

  const ready = async (): Promise<{ status: number; report: ReadyReport }> => {
    const response = await fetch(`${seller.url}/ready`);
    return { status: response.status, report: (await response.json()) as ReadyReport };
  };
  const spent = async (): Promise<bigint> => -(await sandbox.usdc.balanceOf(sandbox.description.buyer.evm.address));
  const countLogged = (reason: string): number => seller.output().split(`":"${reason}","event":"store.`).length - 1;

  for (const [what, spoil, mend, reason] of [
    [
      "may forget payments",
      [
        ["CONFIG", "SET", "maxmemory", "100mb"],
        ["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"],
      ],
      ["CONFIG", "SET", "maxmemory-policy", "noeviction"],
      EVICTS,
    ],
    ["is full", [["CONFIG", "SET", "maxmemory", "1"]], ["CONFIG", "SET", "maxmemory", "100mb"], FULL],
    ["takes no writes", [["REPLICAOF", "127.0.0.1", "9"]], ["REPLICAOF", "NO", "ONE"], REPLICA],
  ] as const)
    it(`charges nobody while Redis ${what}, says why, and takes the same payment afterwards`, async () => {
      const send = await makePayment(sandbox, seller, { what }, "/v1/draw");
      const before = await spent();
      for (const command of spoil) await client.sendCommand([...command]);
      const { status, report } = await ready();
      expect(status).to.equal(503);
      expect(report).to.include({ status: "unavailable", store: "down", store_reason: reason });
      const refused = await send(seller);
      expect(refused.status).to.equal(503);
      expect(await refused.json()).to.include({ code: "unavailable", detail: reason });
      expect(await spent()).to.equal(before);
      await client.sendCommand([...mend]);
      await eventually(async () => (await ready()).status === 200);
      const answered = await eventually(
        () => send(seller),
        (response) => response.status === 200,
      );
      expect(await answered.json()).to.have.property("number");
      expect((await spent()) - before).to.equal(1000n);
      expect(countLogged(reason), "logged once").to.equal(1);
    });

  it("sells nothing into a Redis that has forgotten all sales and jobs, until its data are back", async () => {
    const send = await makePayment(sandbox, seller, { what: "lost" }, "/v1/draw");
    const before = await spent();
    await client.sendCommand(["SWAPDB", "0", "1"]);
    const { status, report } = await ready();
    expect(status).to.equal(503);
    expect(report).to.include({ store: "down", store_reason: LOST });
    expect((await send(seller)).status).to.equal(503);
    expect(await spent()).to.equal(before);
    await client.sendCommand(["SWAPDB", "0", "1"]);
    await eventually(async () => (await ready()).status === 200);
    expect((await send(seller)).status).to.equal(200);
    expect(countLogged(LOST), "logged once").to.equal(1);
  });

  it("sells while Redis may lose the newest payments in a crash, and warns of it", async () => {
    await client.configSet({ appendonly: "no" });
    const { status, report } = await ready();
    expect(status).to.equal(200);
    expect(report.warnings).to.include(LOSES);
    await ready();
    expect(countLogged(LOSES)).to.equal(1);
    expect((await (await makePayment(sandbox, seller, { what: "more" }, "/v1/draw"))(seller)).status).to.equal(200);
    await client.configSet({ appendonly: "yes" });
    expect((await ready()).report.warnings ?? []).not.to.include(LOSES);
  });

  it("sells nothing from the first moment on into a Redis that comes back empty", async () => {
    const send = await makePayment(sandbox, seller, { what: "empty" }, "/v1/draw");
    const before = await spent();
    await redis.restart({ isEmpty: true });
    const refused = await eventually(
      async () => (await send(seller)).json() as Promise<{ readonly detail: string }>,
      ({ detail }) => detail === LOST,
    );
    expect(refused).to.include({ code: "unavailable" });
    expect(await spent()).to.equal(before);
  });
});
