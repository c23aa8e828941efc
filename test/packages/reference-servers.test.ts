import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { runMcpImport } from "../../runtime/cli/import/import-mcp.ts";
import { faultsOf } from "../cli/import/shop.ts";
import { makeDirectory } from "../core/set/served-directory.ts";
import { createFolder } from "../support/folder.ts";
import { openProxyShop, type ProxyShop } from "../support/sellers/proxy-shop.ts";
import { siteOf } from "../support/sellers/site-of.ts";
import { CLIENTS } from "../surfaces/a2a/served/support/clients.ts";
import { CONFIGURATIONS } from "../surfaces/mcp/served/support/clients.ts";
import { installPinned } from "./pinned.ts";

/** The reference servers of MCP, pinned. */
const FIXTURE = join(import.meta.dirname, "../fixtures/reference-servers");

interface Sold {
  /** The package, and the upstream's id. */
  readonly server: string;
  readonly service: string;
  readonly input: (folder: string) => object;
  /** What each answer shows. */
  readonly shows: string;
}

const SOLD: readonly Sold[] = [
  { server: "everything", service: "everything_echo", input: () => ({ message: "ahoy" }), shows: "Echo: ahoy" },
  {
    server: "filesystem",
    service: "filesystem_read_text_file",
    input: (folder) => ({ path: join(folder, "note.txt") }),
    shows: "buy milk",
  },
  { server: "memory", service: "memory_read_graph", input: () => ({}), shows: "relations" },
  {
    server: "sequential-thinking",
    service: "sequential_thinking_sequentialthinking",
    input: () => ({ thought: "one", nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
    shows: "thoughtHistoryLength",
  },
];

describe("the reference servers of MCP", () => {
  const home = createFolder();
  const folder = join(home, "files");
  let shop: ProxyShop;
  let dir: string;
  before(async function () {
    this.timeout(300_000);
    const modules = await installPinned(FIXTURE);
    if (modules === undefined) return this.skip(); // npm's registry cannot be reached.
    mkdirSync(folder);
    writeFileSync(join(folder, "note.txt"), "buy milk");
    shop = await openProxyShop({
      files: async (url) => {
        dir = await makeDirectory({ "manifests/_site.yaml": siteOf(`{ id: other, title: Other, url: "${url}" }`) });
        for (const { server } of SOLD) await importWhole(modules, server);
        return dir;
      },
    });
  });
  after(() => shop?.close());

  async function importWhole(modules: string, server: string): Promise<void> {
    const program = join(modules, `@modelcontextprotocol/server-${server}/dist/index.js`);
    const command = [process.execPath, program, ...(server === "filesystem" ? [folder] : [])];
    const terms = { tools: [], all: true, variables: [], env: {}, isDryRun: false, price: "0.004" };
    await runMcpImport({ ...terms, server: command, dir, upstream: server });
  }

  it("are imported with all their tools, which pass the check", async () => {
    expect(await faultsOf(dir)).to.deep.equal([]);
  });

  for (const { server, service, input, shows } of SOLD)
    it(`are sold on every door to stock clients: ${server}`, async () => {
      const paid = shop.rail.moved.size;
      const path = service.slice(server.length + 1).replaceAll("_", "-");
      const rest = await shop.buy(`/v1/${server}/${path}`, input(folder));
      expect(await rest.text()).to.include(shows);

      const mcp = await CONFIGURATIONS[0]!.connect(`${shop.url}/mcp`);
      const call = { name: service, arguments: input(folder) };
      const unpaid = await mcp.callTool(call);
      const bought = await mcp.callTool({ ...call, _meta: { "x402/payment": shop.pay(unpaid._meta["x402/error"]) } });
      await mcp.close();
      expect(JSON.stringify(bought)).to.include(shows);

      const a2a = await CLIENTS[0]![1](shop.url);
      const waiting = await a2a.begin(service, input(folder));
      const done = await a2a.pay(waiting, shop.pay(waiting.status.message.metadata["x402.payment.required"]));
      expect([a2a.state(done), JSON.stringify(done.artifacts).includes(shows)]).to.deep.equal(["completed", true]);
      expect(shop.rail.moved.size - paid, "payments").to.equal(3);
    });
});
