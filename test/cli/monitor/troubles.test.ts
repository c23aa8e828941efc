import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { createFolderCheck } from "../../../runtime/cli/monitor/folder-check.ts";
import { findStuck, findTroubles } from "../../../runtime/cli/monitor/troubles.ts";
import { createUnsentSearch } from "../../../runtime/cli/monitor/unsent.ts";
import { createDeliveries } from "../../../runtime/core/webhooks/deliveries.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const MINUTE_MS = 60_000;
const QUIET = {
  isStoreUp: true,
  warnings: 0,
  rails: [],
  distrusted: [],
  upstreams: [],
  services: [],
  jobs: [],
  treasury: [],
};
const REPORT = { store: "up", rails: [], upstreams: [], services: [] } as unknown as ReadyReport;

describe("what wants the seller", () => {
  it("is a folder that differs from what is sold", async () => {
    const home = await makeDirectory(TOSS);
    let [now, digest] = [0, readFolder(home).digest];
    const check = createFolderCheck({ home, digest: () => digest, now: () => now });
    expect(check()).to.deep.equal([]);
    await mkdir(join(home, "manifests"), { recursive: true });
    await writeFile(join(home, "manifests/broken.yaml"), "id: [");
    now += MINUTE_MS;
    expect(check()[0]).to.include({ mend: "payphone diff" });
    digest = readFolder(home).digest;
    expect(check()).to.deep.equal([]);
    await writeFile(join(home, "manifests/broken.yaml"), "id: {");
    now -= 60 * MINUTE_MS;
    expect(check()[0], "after the clock was set back, too").to.include({ mend: "payphone diff" });
  });

  it("is a refund that is not paid after an hour, and what waits to be paid by hand", () => {
    const find = (late: number, manual = 0) =>
      findTroubles({ ...QUIET, refunds: { pending: 2, late, manual } }, REPORT).map(
        ({ what, mend }) => `${what}; ${mend}`,
      );
    expect(find(0)).to.deep.equal([]);
    expect(find(1)).to.deep.equal(["A refund is not paid after an hour: the list says why; payphone refunds"]);
    expect(find(2, 1)).to.deep.equal([
      "1 refund waits to be paid by hand; payphone refunds",
      "2 refunds are not paid after an hour: the list says why; payphone refunds",
    ]);
  });

  it("is a job that should have been over, and none that has its time", () => {
    const job = { attempts: 3, deadline_seconds: 900 } as never;
    const services = [
      { manifest: { id: "report", job } },
      { manifest: { id: "quick", job: { attempts: 1, deadline_seconds: 5 } as never } },
    ];
    const find = (service: string, minutes: number) =>
      findStuck([{ id: "job-1", service, at: 0 }], services, minutes * MINUTE_MS);
    expect(find("report", 90)).to.deep.equal([]);
    expect(find("report", 91)[0]?.what).to.include("job-1").and.to.include("91 minutes");
    expect(find("quick", 9)).to.deep.equal([]);
    expect(find("quick", 11)).to.have.length(1);
  });

  it("is a webhook that its receiver has not accepted for an hour, and those that were given up", async () => {
    const store = createMemoryStore();
    const deliveries = createDeliveries(store);
    const receivers = [{ id: "accounts", secret: "HOOK_SECRET" }];
    const add = async (endpoint: string, failures: number): Promise<void> => {
      const event = { id: `sale_${failures}`, type: "sale", at: 0, data: {} } as const;
      const delivery = { endpoint, event, since: 0, failures, notBefore: 0, reason: "It answered 500" };
      if (failures < 9) await deliveries.add(delivery);
      else await deliveries.giveUp(`${endpoint}:${event.id}`, delivery);
    };
    for (const endpoint of ["accounts", "former"]) await add(endpoint, 9);
    const lost = {
      what: "1 message to a receiver was given up after a day",
      mend: "payphone webhooks resend --given-up",
    };
    expect(await createUnsentSearch(store)(receivers, 0)).to.deep.equal([lost]);
    for (const failures of [0, 4]) await add("accounts", failures);
    expect(await createUnsentSearch(store)(receivers, 60 * MINUTE_MS)).to.deep.equal([lost]);
    expect(await createUnsentSearch(store)(receivers, 61 * MINUTE_MS)).to.deep.equal([
      { what: "A message to accounts has waited for more than an hour: It answered 500", mend: "payphone webhooks" },
      lost,
    ]);
  });
});
