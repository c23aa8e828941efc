import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Tools } from "../../../../runtime/surfaces/mcp/methods.ts";
import { createMcpServer } from "../../../../runtime/surfaces/mcp/server.ts";
import { createServiceTools } from "../../../../runtime/surfaces/mcp/tools.ts";
import { createFolder } from "../../../support/folder.ts";
import { fixtureTools } from "./support/fixture-tools.ts";
import { type Served, serve } from "./support/serve.ts";
import { BASE_URL, openStall, type Stall } from "./support/stall.ts";

const SUITE = join(import.meta.dirname, "../../../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** The wire versions, how the suite is asked for each, and how many checks must pass where nothing is excused. */
const RUNS: readonly [version: string, ask: readonly string[], checks: Readonly<Record<string, number>>][] = [
  [
    "2026-07-28",
    ["--requirements", "2026-07-28"],
    { "server-stateless": 25, "http-header-validation": 14, "json-schema-2020-12": 8, "tools-list": 4 },
  ],
  [
    "2025-11-25",
    ["--requirements", "2025-11-25"],
    { "server-initialize": 2, "json-schema-2020-12": 8, "tools-list": 3 },
  ],
  ["2025-06-18", ["--suite", "all", "--spec-version", "2025-06-18"], { "server-initialize": 2, "tools-list": 2 }],
];
const EVERYWHERE = {
  "tools-call-simple-text": 2,
  "tools-call-image": 2,
  "tools-call-audio": 2,
  "tools-call-embedded-resource": 2,
  "tools-call-mixed-content": 2,
  "tools-call-error": 2,
};

describe("the official conformance suite", () => {
  let stall: Stall;
  let served: Served;
  let folder: string;
  before(async () => {
    folder = createFolder();
    stall = await openStall();
    served = await serve((baseUrl) =>
      createMcpServer({
        identity: { name: "payphone", title: "Payphone", version: "0.3.0", description: "", websiteUrl: baseUrl },
        instructions: "",
        access: { baseUrl, loopback: true },
        maxBytes: 65_536,
        tools: besideFixtures(stall),
      }),
    );
  });
  after(async () => {
    await served.close();
    stall.close();
  });

  for (const [version, ask, checks] of RUNS) {
    it(`holds at ${version}, but for what a server of tools alone cannot have`, async () => {
      const baseline = join(import.meta.dirname, `baseline-${version}.yml`);
      const summary = await run(["--url", served.url, ...ask, "--expected-failures", baseline], folder);
      for (const [scenario, count] of Object.entries({ ...EVERYWHERE, ...checks }))
        expect(summary).to.include(`✓ ${scenario}: ${count} passed, 0 failed`);
      if (version !== "2025-06-18") expect(summary).to.include("✓ dns-rebinding-protection: 2 passed, 0 failed");
    });
  }
});

/** Everything that the suite says; it fails on a failure that is not in the baseline, and on a baseline that is out of date. */
async function run(args: readonly string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [SUITE, "server", ...args], { cwd }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => expect.fail(`${stdout}\n${stderr}`),
  );
  return stdout;
}

/** The stall's paid tools, and the suite's own ones behind the same protocol layer. */
function besideFixtures({ parts }: Stall): Tools {
  const paid = createServiceTools({ ...parts, endpoint: `${BASE_URL}/mcp` });
  const isPaid = (name: string) => parts.services.some(({ manifest }) => manifest.id === name);
  return {
    list: (version) => [...paid.list(version), ...fixtureTools.list(version)],
    call: (call) => (isPaid(call.name) ? paid : fixtureTools).call(call),
  };
}
