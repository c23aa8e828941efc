import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { openStage, type Stage } from "./stage.ts";

describe("a free job", () => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage({ job: { attempts: 1, queue_limit: 2 } });
  });
  afterEach(() => stage.close());

  it("begins without a payment, and has nothing to pay back", async () => {
    stage.work = () => {
      throw new Error("broken");
    };
    const { job_id } = (await (await stage.post("/v1/errand", { what: "x" })).json()) as { job_id: string };
    await eventually(async () => (await stage.status(job_id, "errand")).status === "FAILED");
    await eventually(() => ![...stage.store.entries.keys()].some((key) => key.startsWith("queue:")));
    expect(stage.refunds).to.deep.equal([]);
  });

  it("waits in a line that can be full, too", async () => {
    const end = Promise.withResolvers<void>();
    stage.work = async ({ what }) => {
      await end.promise;
      return { found: what };
    };
    const statuses: number[] = [];
    for (const what of ["a", "b", "c"]) statuses.push((await stage.post("/v1/errand", { what })).status);
    expect(statuses).to.deep.equal([200, 200, 503]);
    end.resolve();
  });
});
