import { expect } from "chai";
import { createJobRecords } from "../../../runtime/core/jobs/records.ts";
import { createReportShelf } from "../../../runtime/core/jobs/reports.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { noteLives } from "../../support/store/note-lives.ts";

const DAY = 24 * 60 * 60_000;
const QUARTER = 90 * DAY;
const PAYMENT = { network: "eip155:8453", asset: "0x1", amount: "1000", payer: null, transaction: "0x2" };

describe("how long a job is remembered", () => {
  const clock = { now: () => 1_800_000_000_000 };
  const store = createMemoryStore(clock.now);
  const lives = noteLives(store);
  const records = createJobRecords({ store, clock });
  afterEach(() => lives.clear());
  const reserve = () => records.reserve({ service: "search", input: {}, refund: true });

  it("three days while it is only reserved: longer than any settlement that could begin it", async () => {
    await reserve();
    expect([...lives]).to.deep.equal([["job", [3 * DAY]]]);
  });

  it("ninety days once it is begun, with its turns, steps, progress and end", async () => {
    const { id } = await reserve();
    lives.clear();
    await records.begin(id, PAYMENT);
    expect([await records.countTurn(id), await records.countTurn(id)]).to.deep.equal([1, 2]);
    expect([await records.countFailure(id), await records.countFailure(id)]).to.deep.equal([1, 2]);
    await records.note(id, "looking around");
    await records.keepStep(id, "one", 1);
    await records.end(id, { state: "FAILED", at: clock.now(), error: "no" });
    expect([...lives.keys()]).to.have.members([
      "job-begun",
      "job",
      "job-turns",
      "job-failures",
      "job-progress",
      "job-step",
      "job-end",
    ]);
    expect(new Set([...lives.values()].flat())).to.deep.equal(new Set([QUARTER]));
  });

  it("ninety days with the files that it has published", async () => {
    await createReportShelf({ store, baseUrl: "https://shop.test" }).publish({
      name: "report.csv",
      type: "text/csv",
      body: "a,b\n",
    });
    expect([...lives]).to.deep.equal([
      ["report-piece", [QUARTER]],
      ["report", [QUARTER]],
    ]);
  });

  it("with its refund for ever while that is open, and for ninety days when it is over", async () => {
    const refunds = createRefundRecords(store);
    const { id } = await reserve();
    lives.clear();
    const open = { openedAt: clock.now(), state: "pending", reason: null } as const;
    await refunds.open({ id, service: "search", payment: PAYMENT, ...open });
    await refunds.choose(id, { byHand: "0x3" });
    const refund = { id, service: "search", payment: PAYMENT };
    await refunds.end(refund, { transaction: "0x3", at: clock.now() });
    expect([...lives]).to.deep.equal([
      ["refund", [Number.POSITIVE_INFINITY]],
      ["refund-way", [Number.POSITIVE_INFINITY]],
      ["refund-end", [QUARTER]],
    ]);
  });
});
