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

  it("is reported while its attempt runs, and not when another one may have begun", async () => {
    const noted: (string | null)[] = [];
    const note = async (_: string, step: string | null): Promise<void> => void noted.push(step);
    const records = { note, readStep: async () => undefined, keepStep: async () => {} };
    const { lent, end } = createSteps("one", { records, log: silentLog, graceMs: 10 });
    lent.report("at work");
    await end();
    lent.report("still at work");
    expect(noted).to.deep.equal(["at work"]);
  });
});
