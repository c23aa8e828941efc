import { expect } from "chai";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { toStatusManifest, type WithJob } from "../../../runtime/core/set/job-manifests.ts";

describe("the schema of a job's status", () => {
  it("takes the definitions of a deliverable's schema that stands in the manifest along", () => {
    const output = {
      type: "object",
      properties: { mark: { $ref: "#/$defs/mark" } },
      $defs: { mark: { enum: ["good", "bad"] } },
    };
    const manifest = { id: "search", title: "Search", tags: [], examples: [], output, job: {} } as unknown as WithJob;
    const status = createCompiler(new Map())(toStatusManifest(manifest).output);
    const faultsOf = (mark: string): number =>
      status.check({ job_id: "1", status: "DELIVERED", deliverable: { mark } }, "body").issues.length;
    expect([faultsOf("good"), faultsOf("ugly") > 0]).to.deep.equal([0, true]);
  });
});
