import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { expect } from "chai";
import packageJson from "../../package.json" with { type: "json" };
import type { SandboxDescription } from "../../runtime/sandbox/open-sandbox.ts";
import { sharedSandbox } from "../support/chains/chains.ts";
import { findFreePort } from "../support/free-port.ts";
import { untilRailsUp } from "../support/sellers/rails-up.ts";
import { buyerFetch, json, receiptOf, stockFetch } from "../support/sellers/stock-buyer.ts";
import { HOST } from "./host.ts";
import { bytesOf, type InstalledShop, installShop, packagesIn, type Started } from "./installed.ts";
import { licenceOf } from "./licences.ts";
import { lostLinks } from "./links.ts";
import { BLOCKS, COMMANDS } from "./tutorial.ts";

const MEGABYTE = 2 ** 20;
const TEXT = { text: "to be or not to be" };
const COUNTED = { words: 6, characters: 18, reading_seconds: 2 };

describe("the package, installed in an empty folder", () => {
  let shop: InstalledShop;
  before(async function () {
    this.timeout(600_000);
    const installed = await installShop();
    if (!installed) return this.skip(); // npm's registry cannot be reached.
    shop = installed;
  });
  after(function () {
    this.timeout(600_000);
    shop?.remove();
  });

  const write = (file: string, text: string): void => writeFileSync(join(shop.dir, file), text);
  const read = (file: string): string => readFileSync(join(shop.dir, file), "utf8");

  /** Edits a file of the shop for as long as a test looks at it. */
  async function withEdit(file: string, from: string, to: string, look: () => Promise<void>): Promise<void> {
    const text = read(file);
    expect(text).to.include(from);
    write(file, text.replace(from, to));
    await look().finally(() => write(file, text));
  }

  it("holds no tests and no sources, and what its texts refer to", () => {
    const sources = shop.files.filter((file) => /(^|\/)tests?\/|\.test\.|(?<!\.d)\.ts$/.test(file));
    expect(sources.filter((file) => !file.includes("cli/init/shop"))).to.deep.equal([]);
    expect(shop.files).to.include.members(["runtime/docs/operations.md", "manifests/README.md", "plugins/README.md"]);
    expect(shop.files).to.include("runtime/docs/examples/pictures/manifests/draw.yaml");
    expect(shop.files).to.include.members(["dist/schemas/manifest.json", "dist/schemas/site.json"]); // For editors.
    expect(lostLinks(shop.files)).to.deep.equal([]);
  });

  it("needs at most 220 MB and 260 packages in production, all under licences that ask for a notice at most", () => {
    const packages = packagesIn(shop.dir, true);
    const bytes = [...packages.keys()].reduce((sum, path) => sum + bytesOf(join(shop.dir, path)), 0);
    expect(packages.size).to.be.below(260);
    expect(Math.ceil(bytes / MEGABYTE)).to.be.at.most(220);
    const licences = [...packages].map(([path, locked]) => licenceOf(path.split("node_modules/").at(-1)!, locked));
    expect(licences.filter((licence) => /GPL/.test(licence))).to.deep.equal([]);
  });

  it("names the owner in a new shop, which is sound, typed by its manifests, and passes its own tests", async () => {
    expect(read("manifests/_site.yaml")).to.include('name: "Ada Lovelace"').and.to.include("name: my-shop");
    const { code, said } = await shop.type("npm test");
    expect(code, said).to.equal(0);
    expect(said)
      .to.include("example 1 of count_words")
      .and.to.match(/\bpass 4$/m);
  });

  it("reports the faults of the shop that one stands in, with exit code 1", async () => {
    await withEdit("manifests/count_words.yaml", "count-words.count", "count-words.cuont", async () => {
      const { code, said } = await shop.type("npx payphone check", { cwd: join(shop.dir, "plugins") });
      expect(code, said).to.equal(1);
      expect(said).to.match(/^manifests\/count_words\.yaml:\d+:\d+ unknown-handler .*did you mean "count"\?$/m);
    });
  });

  describe("by the tutorial,", () => {
    it("is installed as this test has done it", () => {
      const begun = [
        `npm install ./payphone-${packageJson.version}.tgz`,
        "npx payphone init my-shop",
        "cd my-shop",
        "npm install",
      ];
      expect(COMMANDS.slice(0, begun.length)).to.deep.equal(begun);
    });

    it("gets a service of one's own, sound, tested and typed, beside a plugin that imports #plugin", async () => {
      await withEdit("plugins/count-words.ts", '"payphone/plugin"', '"#plugin"', async () => {
        for (const { path, text } of BLOCKS.filter(({ path }) => path !== undefined)) write(path!, text);
        for (const command of COMMANDS.filter((one) => /^npx payphone (types|check|test)$/.test(one))) {
          const { code, said } = await shop.type(command);
          expect(code, `${command}: ${said}`).to.equal(0);
        }
        const entries = ["payphone", "payphone/plugin", "payphone/test"].map((entry) => `export * from "${entry}";\n`);
        write("test/all.ts", entries.join("")); // All declarations.
        await withEdit("plugins/count-words.ts", "[...text].length", "text.size", async () => {
          const { said } = await shop.type("npx tsc --pretty false --skipLibCheck false");
          expect(said).to.match(/^plugins\/count-words\.ts\S+ error .* does not exist on type 'string'\.\n$/);
        });
        rmSync(join(shop.dir, "test/all.ts"));
      });
    });

    it("is asked what it lacks before it sells", async () => {
      expect(COMMANDS).to.include("npx payphone serve --check");
      const { code, said } = await shop.type("npx payphone serve --check");
      expect(code).to.equal(2);
      expect(said).to.include("PUBLIC_BASE_URL is not set").and.to.include("SOLANA_RPC_URL is not set");
    });
  });

  it("records what a shop has recordings of", async () => {
    const { code, said } = await shop.type("npx payphone record --check");
    expect(code, said).to.equal(0);
  });

  describe("in the sandbox, with npm start,", () => {
    let server: Started;
    before(async () => {
      server = await shop.start("npm start", { PORT: "0" });
      await untilRailsUp(server.url);
    });
    after(() => server?.stop());

    it("sells its service to the stock client", async () => {
      const description = (await (await fetch(`${server.url}/sandbox`)).json()) as SandboxDescription;
      const pay = await buyerFetch({ description });
      const answer = await pay(`${server.url}/v1/count/words`, json(TEXT));
      expect(await answer.json()).to.deep.equal(COUNTED);
      expect(receiptOf(answer)).to.include({ success: true });
    });

    it("sells what the tutorial has people buy to payphone call, on Solana, too, as its start suggests", async () => {
      expect(server.said).to.include("npx payphone call ");
      const calls = COMMANDS.filter((command) => command.startsWith("npx payphone call "));
      expect(calls).to.have.length(2);
      for (const [at, call] of calls.entries()) {
        const { code, said } = await shop.type(`${call} --url ${server.url}${at === 0 ? " --rail solana" : ""}`);
        expect(code, said).to.equal(0);
        expect(said)
          .to.include(at === 0 ? '"words": 6' : '"sides"')
          .and.to.include("Receipt");
      }
    });

    it("sells to MCP clients through its proxy", async () => {
      const client = new Client({ name: "the tests", version: "1" });
      const args = ["mcp-proxy", `${server.url}/mcp`, "--spending", join(shop.dir, "spending")];
      const command = "node_modules/.bin/payphone";
      const env = shop.env as Record<string, string>;
      await client.connect(new StdioClientTransport({ command, args, cwd: shop.dir, env }));
      const { structuredContent } = await client.callTool({ name: "count_words", arguments: TEXT });
      expect(structuredContent).to.deep.equal(COUNTED);
      await client.close();
    });

    it("reads the tools of an MCP program, here of its own proxy", async () => {
      const program = `node_modules/.bin/payphone mcp-proxy ${server.url}/mcp --spending ${join(shop.dir, "spending")}`;
      const { code, said } = await shop.type(`npx payphone import mcp -- ${program}`);
      expect(code, said).to.equal(0);
      expect(said).to.match(/^count_words\b/m);
    });

    it("shows its explorer with everything that it loads", async () => {
      const page = await (await fetch(`${server.url}/docs`)).text();
      const loaded = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css|png|svg))"/g)].map(([, path]) => path!);
      expect(loaded).not.to.deep.equal([]);
      for (const path of loaded) expect((await fetch(new URL(path, server.url))).status, path).to.equal(200);
    });
  });

  it("sells for real with serve", async () => {
    const sandbox = await sharedSandbox();
    const env = { ...sandbox.env, PORT: "0", PUBLIC_BASE_URL: "http://127.0.0.1:4021", LOG_LEVEL: "warn" };
    const server = await shop.start("npm run serve", env);
    try {
      await untilRailsUp(server.url);
      const pay = await stockFetch(sandbox, "base");
      expect(await (await pay(`${server.url}/v1/count/words`, json(TEXT))).json()).to.deep.equal(COUNTED);
    } finally {
      await server.stop();
    }
  });

  it("is imported by a server that somebody has already", async () => {
    write("test/host.ts", HOST); // It stays there, for the compiler.
    const sandbox = await sharedSandbox();
    const port = await findFreePort();
    const base = `http://127.0.0.1:${port}/paid`;
    const env = { ...sandbox.env, PORT: String(port), PUBLIC_BASE_URL: base, LOG_LEVEL: "warn" };
    const server = await shop.start("node test/host.ts", env);
    try {
      await untilRailsUp(base);
      const pay = await stockFetch(sandbox, "base");
      expect(await (await pay(`${base}/v1/count/words`, json(TEXT))).json()).to.deep.equal(COUNTED);
    } finally {
      await server.stop();
    }
  });

  describe("installed with --omit=optional,", () => {
    it("says what was left out, and where it is needed", async () => {
      const kept = packagesIn(shop.dir, true);
      for (const path of packagesIn(shop.dir, false).keys())
        if (!kept.has(path)) rmSync(join(shop.dir, path), { recursive: true, force: true }); // It is the last test.
      const left = { env: { PORT: "0", PATH: `${dirname(process.execPath)}:/usr/bin:/bin` } };
      const payphone = "node_modules/.bin/payphone";
      const started = await shop.type(`${payphone} sandbox`, left);
      expect(started.code, started.said).to.equal(1);
      expect(started.said).to.include("optional package").and.to.include("install without --omit=optional");
      const typed = await shop.type(`${payphone} types`, left);
      expect(typed.said).to.include("json-schema-to-typescript").and.to.include("install without --omit=optional");
      const checked = await shop.type(`${payphone} check`, left);
      expect(checked.code, checked.said).to.equal(0);
    });
  });
});
