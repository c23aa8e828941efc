import { expect } from "chai";
import { createSteps } from "../../../runtime/core/jobs/steps.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";

describe("a step of a job", () => {
  it("has the result that was kept first: another worker may have done it meanwhile", async () => {
    const records = { note: async () => {}, readStep: async () => undefined, keepStep: async () => "the other's" };
    const { lent, end } = createSteps("one", { records, log: silentLog, graceMs: 10 });
    expect(await lent.step("sign", async () => "its own")).to.equal("the other's");
    await end();
  });
});
