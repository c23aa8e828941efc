import { createServer } from "node:http";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import { runTest } from "../../../runtime/cli/contract/run.ts";
import { runMcpImport } from "../../../runtime/cli/import/import-mcp.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { faultsOf, manifestOf, namesIn, openShop, refusal, textsOf, toTool } from "./shop.ts";

function nest(levels: number): object {
  let schema: object = { type: "string" };
  for (let level = 0; level < levels; level++) schema = { type: "object", properties: { a: schema } };
  return { properties: { a: schema } };
}

describe("an import of hostile tools", () => {
  it("takes what is sound, gives it a place of its own, and shows no control characters", async () => {
    const site = await openToolSite("stateless");
    const dir = await openShop();
    site.offer(
      toTool("../../x"),
      toTool("__proto__"),
      toTool("a\u001b[2J\nprice: 0", {}, { title: "T\r\nid: y", description: "d\0\nhandler: a.b <script>x</script>" }),
      toTool("file", { properties: { a: { $ref: "file:///etc/passwd" } } }),
      toTool("deep", nest(400)),
      toTool("cut", { properties: { a: { type: "string", description: "cut \ud83d" } } }),
      toTool("half", { properties: { a: { const: "cut \ud83d" } } }),
    );
    const command = { server: [site.url], dir, tools: [], upstream: "evil", variables: [], env: {}, isDryRun: false };
    try {
      const table = await runMcpImport({ ...command, all: false });
      const { report } = await runMcpImport({ ...command, all: true });
      expect(table.report + report).to.not.match(/[^\P{Cc}\n]/u);
      expect(report)
        .to.include("deep: its schema is nested too deeply")
        .and.include("half: it would not pass the check: this text has half of a character in it")
        .and.include("file: its reference file:///etc/");
    } finally {
      await site.close();
    }
    expect(await namesIn(dir)).to.have.members(["evil_x", "evil_proto", "evil_a_2_j_price_0", "evil_cut"]);
    expect(await manifestOf(dir, "evil_a_2_j_price_0")).to.deep.include({
      title: "T id: y",
      description: "d handler: a.b x",
      proxy: { mcp: "evil", tool: "a\u001b[2J\nprice: 0" },
    });
    expect(
      Object.keys(await textsOf(dir)).every((file) => /^(?:manifests|schemas)\/(?:\.imports\/)?[\w.-]+$/.test(file)),
    ).to.equal(true);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("says in one line that a list of tools is none, and takes a name in any script", async () => {
    const site = await openToolSite("sessions");
    const dir = await openShop();
    const terms = { server: [site.url], dir, tools: [], all: true, variables: [], env: {}, isDryRun: false };
    try {
      site.offer(toTool("\u9053\u5177", {}, { description: "\u9053\u5177" }));
      await runMcpImport({ ...terms, upstream: "tools" });
      expect(await manifestOf(dir, "tools_call")).to.deep.include({ description: "The tool of tools." });
      site.offer(toTool("bad", { type: "array" }));
      expect(await refusal(runMcpImport({ ...terms, upstream: "bad" }))).to.match(
        /^The list of tools of http:.* cannot be read: Invalid result for tools\/list: tools[.\w]*: Invalid input: [^[{]+$/,
      );
    } finally {
      await site.close();
    }
  });

  for (const kind of ["sessions", "stateless"] as const)
    it(`leaves out tools that are none by MCP, and takes the others of the list: ${kind}`, async () => {
      const site = await openToolSite(kind);
      const dir = await openShop();
      site.offer(toTool("good"), toTool("bad", { type: undefined }), toTool("worse", {}, { title: 4 as never }));
      const terms = { server: [site.url], dir, tools: [], all: true, variables: [], env: {}, isDryRun: false };
      const table = await runMcpImport({ ...terms, all: false });
      const { report, isPartial } = await runMcpImport({ ...terms, upstream: "some" }).finally(site.close);
      for (const text of [table.report, report])
        expect(text).to.include("bad: its inputSchema.type breaks MCP: ").and.include("worse: its title breaks MCP: ");
      expect([isPartial, await namesIn(dir)]).to.deep.equal([true, ["some_good"]]);
    });

  it("has room for the longest texts that a tool takes", async () => {
    const site = await openToolSite("stateless");
    const dir = await openShop();
    site.offer(toTool("hash", { properties: { text: { type: "string", maxLength: 200_000 } } }));
    const command = { server: [site.url], dir, tools: [], upstream: "calc", variables: [], env: {}, isDryRun: false };
    try {
      expect((await runMcpImport({ ...command, all: true })).isPartial).to.equal(false);
    } finally {
      await site.close();
    }
    expect(await manifestOf(dir, "calc_hash")).to.include({ body_bytes: 204_096 });
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("shows no more of a name than somebody would type", async () => {
    const site = await openToolSite("sessions");
    const dir = await openShop();
    const terms = {
      server: [site.url],
      dir,
      tools: [],
      all: false,
      upstream: "x",
      variables: [],
      env: {},
      isDryRun: false,
    };
    try {
      site.offer(toTool("x".repeat(5000)), toTool("short"), toTool("y".repeat(5000), { type: undefined }));
      const { report } = await runMcpImport(terms);
      expect(report)
        .to.match(/^x{125}\.\.\. /m)
        .and.match(/^ {2}- y{125}\.\.\.: /m)
        .and.include("--tools short ");
      expect(report.length).to.be.below(2000);
    } finally {
      await site.close();
    }
  });

  it("names a tool that the client leaves out for its header, without control characters", async () => {
    const site = await openToolSite("stateless");
    site.offer(
      toTool("a\u001b[2J\nb", { properties: { x: { type: "string", "x-mcp-header": "no name" } } }),
      toTool("c"),
    );
    const { code, err, out } = await runPayphone(["import", "mcp", site.url, "--dir", await openShop()]);
    await site.close();
    expect([code, err]).to.deep.equal([0, ""]);
    expect(out).to.include("a [2J b: its x-mcp-header breaks MCP\n");
  });

  it("shows no control characters of a server that refuses", async () => {
    const server = createServer((_request, response) => void response.writeHead(500).end("a\u001b[2J\u202eb\nc"));
    const url = await listenOnLoopback(server);
    const { code, err } = await runPayphone(["import", "mcp", url, "--dir", await openShop()]);
    await closeServer(server);
    expect(code).to.equal(1);
    expect(err)
      .to.include("a [2J b")
      .and.not.match(/[^\P{Cc}\n]|\u202e/u);
  });

  it("leaves out a tool that can only be called as a task", async () => {
    const site = await openToolSite("sessions");
    const dir = await openShop();
    site.offer(toTool("now"), toTool("later", {}, { execution: { taskSupport: "required" } }));
    const terms = { server: [site.url], dir, tools: [], all: true, variables: [], env: {}, isDryRun: false };
    const { report } = await runMcpImport({ ...terms, upstream: "tasks" }).finally(site.close);
    expect(report).to.include("later: it runs as a task only");
    expect(await namesIn(dir)).to.deep.equal(["tasks_now"]);
  });

  it("fails one example in payphone test when a tool ends its program, and not those after it", async () => {
    const dir = await openShop();
    const server = [process.execPath, join(import.meta.dirname, "../../support/sources/tool-server.ts")];
    const terms = { server, dir, all: false, upstream: "tools", variables: [], env: {}, isDryRun: false };
    await runMcpImport({ ...terms, tools: ["add", "crash", "draw"] });
    const lines: string[] = [];
    const print = (line: string) => lines.push(stripVTControlCharacters(line));
    // The crash comes in the middle: "tools_add", "tools_crash", "tools_draw".
    expect(await runTest({ dir, services: [], env: { PATH: process.env.PATH }, print })).to.equal(false);
    expect(lines.map((line) => line.split("\n")[0])).to.deep.equal([
      "ok    example 1 of tools_add",
      "fails example 1 of tools_crash",
      "ok    example 1 of tools_draw",
      "2 of 3 examples came true",
    ]);
  });
});
