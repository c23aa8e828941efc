import { expect } from "chai";
import { toSkill } from "../../../runtime/surfaces/a2a/skills.ts";
import { toTool } from "../../../runtime/surfaces/mcp/tool.ts";
import { ROOT, showSet } from "../support/fixture-set.ts";

describe("what a service costs", () => {
  it("is a sentence of its own behind a description that has no full stop, as imported ones", async () => {
    const given = (await showSet(ROOT)).service("attest_verify");
    const options = { inline: () => ({}), payable: "USDC", version: "2025-11-25" } as const;
    for (const [description, whole] of [
      ["Order a pet", "Order a pet. Free."],
      ["Order a pet.", "Order a pet. Free."],
      ["Which pet (of two?)", "Which pet (of two?) Free."],
      ["A pet (small)", "A pet (small). Free."],
      ["Any pet!\n", "Any pet! Free."],
      ["サイコロを振ります。", "サイコロを振ります。 Free."],
    ] as const) {
      const service = { ...given, manifest: { ...given.manifest, description } };
      const shown = [toTool(service, options), toSkill(service)] as { description?: string }[];
      expect(shown.map((one) => one.description)).to.deep.equal([whole, whole]);
    }
  });
});
