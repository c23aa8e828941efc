import { expect } from "chai";
import { toSkill } from "../../../runtime/surfaces/a2a/skills.ts";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import { toTool } from "../../../runtime/surfaces/mcp/tool.ts";
import { edit, JOB, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { toDoorRequest } from "../../support/door-request.ts";
import { BASE_URL, type Shown, showSet } from "../support/fixture-set.ts";

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

const frontOf = ({ documents }: Shown): string => String(documents.get("/")?.alternatives?.[0]?.body);

async function instructionsOf({ services, set }: Shown): Promise<string> {
  const invoke = () => Promise.reject(new Error("nothing is called"));
  const mcp = createMcp({ ...set, services, invoke, baseUrl: BASE_URL, loopback: true });
  const params = { protocolVersion: "2025-11-25" };
  const message = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const { body = "" } = await mcp.handle(toDoorRequest(message, { headers: { "content-type": "application/json" } }));
  return JSON.parse(body).result.instructions;
}

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

  it("is named beside what is said of all services: on the front page, and to the clients of the MCP server", async () => {
    for (const [job, isKept] of [
      [JOB, true],
      [JOB.replace("refund: false", "refund: true"), false],
    ] as const) {
      const shown = await show(job);
      const unless = /Only results are charged[^.]*, unless a \w+ says that a job is not paid back/;
      expect(unless.test(frontOf(shown)), "the front page").to.equal(isKept);
      expect(unless.test(await instructionsOf(shown)), "the instructions").to.equal(isKept);
    }
  });
});
