import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { explainLeftStore } from "../../../runtime/cli/config/left-store.ts";
import type { LiveFinding } from "../../../runtime/cli/live/probe.ts";
import { run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { createLog } from "../../../runtime/drivers/log.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { failedJob } from "../../core/refunds/rail.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { withRedis } from "../../support/programs.ts";
import { damage } from "../../support/store/damage.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";

const REDIS = "redis://127.0.0.1:9";

/** A data directory whose store has a job in line, and two refunds to be paid, of which one record is damaged. */
async function makeLeft(): Promise<string> {
  const dataDir = createFolder();
  const store = await openStore({ dataDir });
  const [refund, broken] = [failedJob(), failedJob()];
  for (const { id, ...rest } of [refund, broken]) {
    const open = { id, ...rest, openedAt: Date.now(), state: "manual" as const, reason: "By hand" };
    await createRefundRecords(store).open(open);
  }
  await store.set(`queue:errand:${Date.now()}:one`, { id: "one", notBefore: 0 });
  await store.close();
  damage(dataDir, `refund:${broken.id}`, "{");
  return dataDir;
}

describe("the embedded store that a shop has left for Redis", () => {
  it("is told with what it still has to do, also of records that are damaged", async () => {
    const dataDir = await makeLeft();
    expect(await explainLeftStore({ dataDir, redisUrl: REDIS })).to.match(
      /payphone\.sqlite still has 1 job, 2 refunds: with REDIS_URL nobody does that\. Start the shop without REDIS_URL/,
    );
    expect(await explainLeftStore({ dataDir, redisUrl: undefined }), "still in use").to.equal(undefined);
    const store = await openStore({ dataDir });
    await store.set("open:eip155:8453:0xpayer:0xnonce", 1);
    await store.close();
    expect(await explainLeftStore({ dataDir, redisUrl: REDIS })).to.include("2 refunds, 1 payment to be looked up");
  });

  it("is not mentioned where it owes nothing, or where there is none", async () => {
    const dataDir = createFolder();
    expect(await explainLeftStore({ dataDir, redisUrl: REDIS })).to.equal(undefined);
    await (await openStore({ dataDir })).close();
    expect(await explainLeftStore({ dataDir, redisUrl: REDIS })).to.equal(undefined);
  });

  it("is told where it cannot be read", async () => {
    const dataDir = createFolder();
    const store = await openStore({ dataDir });
    await store.close();
    writeFileSync(join(dataDir, "payphone.sqlite"), "x".repeat(999));
    expect(await explainLeftStore({ dataDir, redisUrl: REDIS })).to.match(/cannot be read for what it still owes: /);
  });
});

withRedis.describe("a shop that starts with Redis beside a store that still owes", () => {
  let redis: TestRedis;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it("says so in its log, and so does serve --check", async () => {
    const [{ env }, dir, dataDir] = await Promise.all([sharedSandbox(), makeDirectory(TOSS), makeLeft()]);
    const own = { ...env, PAYPHONE_DATA_DIR: dataDir, REDIS_URL: redis.url, PORT: "0" };
    let output = "";
    const destination = {
      write(line: string) {
        output += line;
      },
    };
    const log = createLog({ level: "warn", destination });
    const running = await run({ set: await loadSet(dir), config: readConfig(own), log });
    await running.close();
    const said = /still has 1 job, 2 refunds: with REDIS_URL nobody does that/;
    expect(output).to.match(said).and.to.include('"store.left"');
    const { out } = await runPayphone(["serve", "--dir", dir, "--check", "--json"], {
      ...own,
      PUBLIC_BASE_URL: "http://127.0.0.1:9",
    });
    const state = (JSON.parse(out) as LiveFinding[]).find(({ what }) => what === "state");
    expect(state?.state, out).to.equal("warning");
    expect(state?.found).to.match(said);
  });
});
