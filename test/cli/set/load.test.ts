import { readdirSync, readFileSync } from "node:fs";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Host, Run } from "../../../runtime/api/plugin.ts";
import { checkDir, toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { type Lent, loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import { toFaultLine } from "../../../runtime/core/set/faults.ts";
import { edit, type Files, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { createFolder } from "../../support/folder.ts";
import { toCall } from "../../support/sellers/call.ts";

const ROOT = join(import.meta.dirname, "../../..");
const CALL = toCall();

/** payphone's own site, schemas and one manifest of it, as an operator would copy them. */
function copyOf(manifest: string): Files {
  const schemas = readdirSync(join(ROOT, "schemas")).filter((name) => /^[A-Z].*\.json$/.test(name));
  const names = ["manifests/_site.yaml", `manifests/${manifest}`, ...schemas.map((name) => `schemas/${name}`)];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(ROOT, name), "utf8")]));
}

async function openServices(dir: string, lent: Partial<Lent> = {}): Promise<readonly Service[]> {
  const set = await loadSet(dir);
  const { handlers, faults } = await loadPlugins(set, { ...toIdleLent(set), env: {}, ...lent });
  expect([...set.faults, ...faults].map(toFaultLine)).to.deep.equal([]);
  return bindServices(set.manifests, { site: set.site, compile: set.compile, handlers });
}

const run = ({ handler }: Service, input: unknown): unknown => (handler as Run<unknown, unknown>)(input, CALL);

/** The toss plugin with another body. */
const withPlugin = (setup: string): Files => ({
  ...TOSS,
  "plugins/toss.ts": `import { definePlugin } from "#plugin";\nexport default definePlugin("toss", ${setup});\n`,
});

const world = globalThis as { isTossChanging?: boolean };
const HEADS = `export const side = "heads";\n`;
/** Changes a file of its own before it imports it. */
const CHANGING = `import { writeFileSync } from "node:fs";
import { definePlugin } from "#plugin";
export default definePlugin("toss", async () => {
  if (globalThis.isTossChanging)
    writeFileSync(new URL("side.ts", import.meta.url), 'export const side = "tails";');
  const { side } = await import("./side.ts");
  return { toss: () => side };
});
`;

describe("a directory of services", () => {
  it("has a fault for a file in another encoding than UTF-8, instead of other letters", async () => {
    const dir = await makeDirectory(TOSS);
    const manifest = (TOSS["manifests/toss.yaml"] as string).replace("random", "caf\u00e9");
    await writeFile(join(dir, "manifests/toss.yaml"), manifest, "latin1");
    await writeFile(join(dir, "schemas/TossRequest.json"), "\ufeff{}", "utf16le");
    const lines = (await checkDir(dir)).map(toFaultLine);
    expect(lines).to.include("manifests/toss.yaml:1:1 unexpected-file is not in UTF-8");
    expect(lines).to.include("schemas/TossRequest.json:1:1 unexpected-file is not in UTF-8");
  });

  it("sells what an operator copied, renamed, repriced and gave ten lines of code, from outside the repository", async () => {
    const copied = copyOf("roll.yaml");
    const manifest = (copied["manifests/roll.yaml"] as string)
      .replace("id: roll", "id: draw")
      .replace("POST /v1/roll", "POST /v1/draw")
      .replace('price: "0.001"', 'price: "0.25"')
      .replace("handler: roll.roll", "handler: draw.lots");
    const { "manifests/roll.yaml": _, ...rest } = copied;
    const dir = await makeDirectory({
      ...rest,
      "manifests/draw.yaml": manifest,
      "plugins/draw.ts": `import { randomInt } from "node:crypto";
import { definePlugin } from "#plugin";

export default definePlugin("draw", ({ site }) => ({
  lots({ low, high, count, commitment = null, label = null }) {
    const result = Array.from({ length: count }, () => randomInt(low, high + 1));
    const rest = { input_hash: "", result_hash: "", signature: "", signer: "", scheme: "eip191" };
    return { range: [low, high], count, commitment, label, result, ...rest, domain: site.name + "/roll/v1" };
  },
}));
`,
    });
    const [service, ...others] = await openServices(dir);
    expect(others).to.deep.equal([]);
    expect(service).to.deep.include({ path: "/v1/draw", deadlineMs: 30_000 });
    expect(service?.manifest).to.deep.include({ id: "draw", price: "0.25" });
    const output = run(service as Service, { low: 5, high: 5, count: 2 });
    expect(output).to.deep.include({ result: [5, 5], domain: "payphone/roll/v1" });
    expect(service?.output.check(output, "body").issues).to.deep.equal([]);
  });

  it("is bound to frozen services, with every route, the own deadline, and defaults", async () => {
    const dir = await makeDirectory(
      edit(TOSS, "manifests/toss.yaml", "tags:", "aliases: [GET /v1/toss]\ndeadline_seconds: 2.5\ntags:"),
    );
    const [service] = (await openServices(dir)) as [Service];
    expect(service.routes).to.deep.equal([
      { method: "POST", path: "/v1/toss" },
      { method: "GET", path: "/v1/toss" },
    ]);
    expect(service.deadlineMs).to.equal(2500);
    expect(service.input.check({}, "body").value).to.deep.equal({ coins: 1 });
    expect([service, service.routes, service.manifest, service.manifest.examples[0]]).to.satisfy((parts: object[]) =>
      parts.every(Object.isFrozen),
    );
  });

  it("may be a symbolic link, and may be served twice in one process, each time set up anew", async () => {
    const setup = "() => { let calls = 0; return { toss: () => ({ sides: [], calls: ++calls }) }; }";
    const dir = await makeDirectory(withPlugin(setup));
    const home = createFolder();
    await symlink(dir, join(home, "shop"));
    for (const path of [dir, join(home, "shop")]) {
      const [service] = (await openServices(path)) as [Service];
      expect(run(service, {}), path).to.deep.equal({ sides: [], calls: 1 });
    }
  });
});

describe("a plugin that is loaded", () => {
  it("is lent exactly the variables that its manifests need, where they are set", async () => {
    const files = edit(
      withPlugin("({ env }) => ({ toss: () => env })"),
      "manifests/toss.yaml",
      "tags:",
      "needs: [COIN, EDGE]\ntags:",
    );
    const env = { COIN: "euro", SECRET: "x", PATH: "/bin" };
    const [service] = (await openServices(await makeDirectory(files), { env })) as [Service];
    expect(run(service, {})).to.deep.equal({ COIN: "euro" });
  });

  it("may have handlers whose functions use their object's own members", async () => {
    const dir = await makeDirectory(withPlugin(`() => ({ toss: { side: "heads", run() { return this.side; } } })`));
    const [toss] = (await openServices(dir)) as [Service];
    const { run: own } = toss.handler as { readonly run: Run<unknown, unknown> };
    expect(own({}, CALL)).to.equal("heads");
  });

  it("opens of the host only what it takes", async () => {
    const opened: string[] = [];
    const lend = (name: string): PropertyDescriptor => ({ enumerable: true, get: () => opened.push(name) });
    const names = ["anchor", "clock", "evm", "log", "site", "treasury"];
    const host = Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, lend(name)]))) as Host;
    const dir = await makeDirectory(withPlugin("({ clock }) => ({ toss: () => clock })"));
    await openServices(dir, { host });
    expect(opened).to.deep.equal(["clock"]);
  });

  it("is imported anew when one of its files was another one while plugins were loaded", async () => {
    const { "plugins/toss.ts": _, ...rest } = TOSS;
    const dir = await makeDirectory({ ...rest, "plugins/toss/index.ts": CHANGING, "plugins/toss/side.ts": HEADS });
    const load = async (): Promise<unknown> => run((await openServices(dir))[0] as Service, {});
    world.isTossChanging = true;
    expect(await load()).to.equal("tails");
    world.isTossChanging = false;
    await writeFiles(dir, { "plugins/toss/side.ts": HEADS });
    expect(await load()).to.equal("heads");
  });

  it("finds the packages of its own directory, and the contract that comes with payphone", async () => {
    const files = {
      ...TOSS,
      "node_modules/commander/package.json": '{ "name": "commander", "type": "module", "exports": "./own.js" }',
      "node_modules/commander/own.js": 'export const whose = "the operator\'s";',
      "plugins/toss.ts": `import { whose } from "commander";
import { Problem, definePlugin } from "#plugin";
import { side } from "./sides.ts";
export default definePlugin("toss", () => ({ toss: () => ({ sides: [side], whose, Problem }) }));
`,
      "plugins/sides.ts": 'export { side } from "./side.ts";',
      "plugins/side.ts": 'import { Problem } from "#plugin";\nexport const side = Problem.name;',
    };
    const [service] = (await openServices(await makeDirectory(files))) as [Service];
    const { Problem } = await import("../../../runtime/api/problem.ts");
    const expected = { sides: ["Problem"], whose: "the operator's", Problem };
    expect(run(service, {})).to.deep.equal(expected);
  });

  it("is told at its own line which package the shop has not installed, or has only because payphone has it", async () => {
    const own = `import { definePlugin } from "#plugin";\nimport { base58 } from '@scure/base';\n`;
    const files: Files = {
      ...TOSS,
      "plugins/toss.ts": `${own}export default definePlugin("toss", () => ({ toss: () => base58 }));\n`,
    };
    const hoisted: Files = {
      "package.json": '{ "type": "module", "dependencies": { "payphone": "*" } }',
      "node_modules/@scure/base/package.json": '{ "name": "@scure/base", "type": "module", "exports": "./x.js" }',
      "node_modules/@scure/base/x.js": "export const base58 = 1;",
    };
    const asked = '{ "type": "module", "workspaces": ["more/*"] }';
    const more = '{ "name": "tools", "optionalDependencies": { "@scure/base": "*" } }';
    const faultsOf = async (shop: Files): Promise<string[]> => {
      const dir = await makeDirectory(shop);
      return (await checkDir(dir, {})).map(
        (fault) => `${fault.file}:${fault.line}:${fault.column} ${fault.message.replace(dir, "DIR")}`,
      );
    };
    const install = 'run "npm install @scure/base" in DIR';
    expect(await faultsOf(files)).to.deep.equal([
      `plugins/toss.ts:2:24 the package of "@scure/base" is not installed: ${install}`,
    ]);
    expect(await faultsOf({ ...files, ...hoisted })).to.deep.equal([
      `plugins/toss.ts:2:24 the package of "@scure/base" is installed for other packages only, and not in the shop's package.json: ${install}`,
    ]);
    const late = `import { gone } from "./gone.ts";\nexport const more = () => import("./more.ts");\nexport default gone;\n`;
    expect(await faultsOf({ ...TOSS, "plugins/toss.ts": late, "plugins/more.ts": "" })).to.deep.equal([
      "plugins/toss.ts:1:22 there is no ./gone.ts",
    ]);
    const part = (files["plugins/toss.ts"] as string).replace("@scure/base", "@scure/base/part");
    expect(await faultsOf({ ...files, ...hoisted, "plugins/toss.ts": part })).to.deep.equal([
      'plugins/toss.ts:2:24 its package has no "@scure/base/part"',
    ]);
    expect(
      await faultsOf({ ...files, ...hoisted, "package.json": asked, "more/tools/package.json": more }),
    ).to.deep.equal([]);
  });

  it("is not imported when no manifest names it", async () => {
    const files = { ...TOSS, "plugins/idle.ts": 'throw new Error("imported");' };
    expect(await openServices(await makeDirectory(files))).to.have.length(1);
  });

  it("leaves the modules of the shop's own program as they are", async () => {
    const dir = await makeDirectory({
      ...TOSS,
      "app/state.ts": "export const state = {};",
      "app/early.ts": 'export { state } from "./state.ts";',
      "app/late.ts": 'export { state } from "./state.ts";',
    });
    const { state } = await import(join(dir, "app/early.ts"));
    await openServices(dir);
    expect((await import(join(dir, "app/late.ts"))).state).to.equal(state);
  });
});
