import { expect } from "chai";
import { toSkill } from "../../../runtime/surfaces/a2a/skills.ts";
import { toTool } from "../../../runtime/surfaces/mcp/tool.ts";
import { edit, JOB, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { type Shown, showSet } from "../support/fixture-set.ts";

const KEPT = "A job that fails is not paid back.";

/** What buyers read of the service before they pay, by where it stands. */
function saidOf({ service, text, json }: Shown): Record<string, string> {
  const toss = service("toss");
  const tool = toTool(toss, {
    inline: (document: object) => ({ ...document }),
    payable: "USDC",
    version: "2025-11-25",
  });
  return {
    tool: JSON.stringify(tool),
    skill: toSkill(toss).description,
    "/openapi.json": json("/openapi.json").paths["/v1/toss"].post.description,
    "/llms.txt": text("/llms.txt"),
    "/docs/toss": text("/docs/toss"),
  };
}

const UNLESS = "paid back, unless the service says that a job is not.";
const guidanceOf = ({ json }: Shown): string => json("/openapi.json").info["x-guidance"];

describe("a job that is paid for also when it fails", () => {
  const show = async (job: string): Promise<Shown> =>
    showSet(await makeDirectory(edit(TOSS, "manifests/toss.yaml", "tags:", `${job}\ntags:`)));

  it("says so wherever buyers read of it, and others do not", async () => {
    const kept = await show(JOB);
    const back = await show(JOB.replace("refund: false", "refund: true"));
    for (const [place, said] of Object.entries(saidOf(kept))) expect(said, place).to.include(KEPT);
    for (const [place, said] of Object.entries(saidOf(back))) expect(said, place).not.to.include(KEPT);
    expect(guidanceOf(kept)).to.include(UNLESS);
    expect(guidanceOf(back)).not.to.include(UNLESS);
    expect(guidanceOf(await showSet(await makeDirectory(TOSS)))).not.to.include(UNLESS);
  });
});
