import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { runMcpImport } from "../../../runtime/cli/import/import-mcp.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { openToolSite } from "../../support/sources/tool-site.ts";
import { faultsOf, manifestOf, namesIn, openShop, refusal, SITE, textsOf, toTool } from "./shop.ts";

describe("an MCP server whose tools are imported", () => {
  it("does not sell the tools of a program as those of another one, which somebody wrote under the same name", async () => {
    const upstreams = `upstreams:\n  - { id: files, title: Mine, mcp: stdio, command: [mine, "--of", /srv/a] }\n`;
    const site = `${SITE.replace(/^upstreams:[\s\S]*?(?=^\S)/m, "")}\n${upstreams}`;
    const server = [process.execPath, join(ROOT, "test/support/sources/tool-server.ts")];
    const terms = { tools: [], all: true, upstream: "files", variables: [], env: process.env, isDryRun: false };
    const dir = await openShop({ "manifests/_site.yaml": site });
    expect(await refusal(runMcpImport({ server, dir, ...terms }))).to.match(
      /^The upstream files of \S+ is mine --of \/srv\/a, and not .*tool-server\.ts: name another with --upstream$/,
    );
    expect(await namesIn(dir)).to.deep.equal([]);
    const same = await openShop({
      "manifests/_site.yaml": site.replace('[mine, "--of", /srv/a]', JSON.stringify(server)),
    });
    await runMcpImport({ server, dir: same, ...terms });
    expect(await namesIn(same)).to.include("files_add");
  });

  it("gets an example with the parts of a tuple, and as many fields as a mapping needs beside its own", async () => {
    const pair = { type: "array", prefixItems: [{ type: "integer", minimum: 3 }, { $ref: "#/$defs/kind" }] };
    const properties = {
      labels: { type: "object", required: ["name_1"], minProperties: 2, additionalProperties: { type: "string" } },
      closed: { ...pair, items: false, minItems: 2 },
      older: { type: "array", items: pair.prefixItems, minItems: 2, maxItems: 2 },
      open: { ...pair, items: { type: "boolean" }, minItems: 3 },
    };
    const $defs = { kind: { type: "string", enum: ["b"] } };
    const site = await openToolSite("stateless");
    const dir = await openShop();
    site.offer(toTool("a", { properties, required: Object.keys(properties), $defs }));
    const server = [site.url];
    try {
      await runMcpImport({ server, dir, tools: [], all: true, upstream: "t", variables: [], env: {}, isDryRun: false });
    } finally {
      await site.close();
    }
    const [{ input }] = (await manifestOf(dir, "t_a")).examples as [{ input: { open: unknown[] } }];
    const { open, ...made } = input;
    expect(made).to.deep.equal({
      labels: { name_1: "example", name_2: "example" },
      closed: [10, "b"],
      older: [10, "b"],
    });
    expect(open, "of which only the length is checked").to.have.lengthOf(3);
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  it("leaves no credential of its own address in the shop, and says which variable holds it", async () => {
    const site = await openToolSite("stateless");
    const dir = await openShop();
    site.offer(toTool("a"));
    const server = [`${site.url}?shopApiKey=s3cr3t&tools=a`];
    const command = { server, dir, tools: [], all: true, upstream: "evil", variables: [], env: {}, isDryRun: false };
    try {
      const { report } = await runMcpImport(command);
      expect(report).to.match(/^ {2}set EVIL_QUERY_KEY, .+ query parameter shopApiKey /m);
      const texts = await textsOf(dir);
      expect(JSON.stringify(texts)).to.not.include("s3cr3t");
      const [entry] = parse(texts["manifests/_site.yaml"] ?? "").upstreams.slice(-1);
      expect(entry).to.deep.include({
        url: `${site.url}?tools=a`,
        key: { variable: "EVIL_QUERY_KEY", query: "shopApiKey" },
      });
      await runMcpImport(command);
      expect(await textsOf(dir)).to.deep.equal(texts);
      await runMcpImport({ ...command, upstream: "other", key: "OTHER_TOKEN", env: { OTHER_TOKEN: "t" } });
      expect(await faultsOf(dir)).to.deep.equal([]);
    } finally {
      await site.close();
    }
  });

  it("says of a program's arguments which secrets it has written into the shop", async () => {
    const program = [process.execPath, join(ROOT, "test/support/sources/tool-server.ts")];
    const server = [
      ...program,
      "--figma-api-key=s3cr3t",
      "--token",
      "s3cr3t",
      "-e",
      "DB_PASSWORD=s3cr3t",
      "--keys",
      "monkey",
    ];
    const terms = { tools: [], all: true, upstream: "kit", variables: [], env: process.env, isDryRun: false };
    const dir = await openShop();
    const { report } = await runMcpImport({ server, dir, ...terms });
    const told = [...report.matchAll(/^note: what (\S+) holds stands in _site\.yaml, .* that --env names; /gm)];
    expect(told.map(([, name]) => name)).to.deep.equal(["--figma-api-key", "--token", "DB_PASSWORD"]);
    expect(report).not.to.include("s3cr3t");
    const { source } = JSON.parse(await readFile(join(dir, "manifests/.imports/kit.json"), "utf8"));
    expect(source).to.match(/ --figma-api-key=\.\.\. --token \.\.\. -e DB_PASSWORD=\.\.\. --keys monkey$/);
  });

  it("says in one line what no MCP server has answered, and which variables a program that ends was given", async () => {
    const json = { "content-type": "application/json" };
    const site = createServer((_, response) => response.writeHead(200, json).end("{}"));
    const url = `${await listenOnLoopback(site)}/mcp`;
    const dir = await openShop();
    const refused = (...server: string[]): Promise<string> =>
      refusal(runMcpImport({ server, dir, tools: [], all: true, variables: [], env: process.env, isDryRun: false }));
    try {
      expect(await refused(url)).to.match(
        /^http:.+\/mcp does not answer as an MCP server: its answer is no JSON-RPC message$/,
      );
      expect(await refused(process.execPath, "-e", "console.error('TOKEN', process.env.TOKEN)")).to.match(
        /server: Connection closed\nTOKEN undefined\nIt gets only PATH, and the variables that --env names\.$/,
      );
      expect(await refused("./no-such-program")).to.match(/server: spawn \.\/no-such-program ENOENT$/);
    } finally {
      site.close();
    }
  });

  it("says why a server cannot be reached, where it leads elsewhere, and which credential or transport it lacks", async () => {
    const site = createServer(({ url }, response) =>
      url === "/away"
        ? response.writeHead(307, { location: "http://127.0.0.1:9/mcp" }).end()
        : response.writeHead(url === "/sse" ? 405 : 401).end(),
    );
    const url = await listenOnLoopback(site);
    const dir = await openShop();
    const refused = (server: string, key?: string, env = {}): Promise<string> =>
      refusal(runMcpImport({ server: [server], key, dir, tools: [], all: true, variables: [], env, isDryRun: false }));
    try {
      expect(await refused("http://127.0.0.1:9/mcp")).to.match(/: fetch failed: bad port$/);
      expect(await refused(`${url}/away`)).to.include("Redirect to http://127.0.0.1:9/mcp not followed");
      expect(await refused(`${url}/sse`)).to.match(/\nOnly Streamable HTTP is spoken, not the older HTTP\+SSE: /);
      expect(await refused(`${url}/mcp`)).to.match(
        /401\)\n--key names the variable that holds its bearer token, or what --key-header sends\.$/,
      );
      expect(await refused(`${url}/mcp`, "TOKEN")).to.match(/401\)\nTOKEN, which --key names, is not set\.$/);
      expect(await refused(`${url}/mcp`, "TOKEN", { TOKEN: "old-7f3a" })).to.match(/\nWhat TOKEN holds was refused: /);
    } finally {
      site.close();
    }
  });

  it("sends a credential in the header that the server wants, and writes down which", async () => {
    const site = await openToolSite("stateless");
    const dir = await openShop();
    site.offer(toTool("good"));
    const env = { SITE_KEY: "k-3f9a62c1d7" };
    const terms = { server: [site.url], dir, tools: [], variables: [], env, isDryRun: false, keyHeader: "x-api-key" };
    try {
      const table = await runMcpImport({ ...terms, all: false, key: "SITE_KEY" });
      expect(table.report).to.include(" --all --key SITE_KEY --key-header x-api-key http");
      await runMcpImport({ ...terms, all: true, key: "SITE_KEY" });
      const sent = site.asked.map(({ headers }) => [headers["x-api-key"], headers.authorization]);
      expect(new Set(sent.map(String))).to.deep.equal(new Set(["k-3f9a62c1d7,"]));
      expect((await textsOf(dir))["manifests/_site.yaml"]).to.include("{ variable: SITE_KEY, header: x-api-key }");
      expect(await refusal(runMcpImport({ ...terms, all: true }))).to.include("--key-header needs --key");
    } finally {
      await site.close();
    }
  });
});
