import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { digestSet, readSoundSet } from "../../../runtime/cli/set/sound-set.ts";
import { edit, type Files, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { startSeller } from "../../support/sellers/seller.ts";

const REQUEST = "schemas/TossRequest.json";
const BROKEN = { "schemas/Broken.json": '{ "type": "object", "propertys": {} }' };

/** A plugin whose own rules refuse every example. */
const REFUSING = `import { definePlugin } from "#plugin";
export default definePlugin("toss", () => ({
  toss: { check() { throw new Error("no coins"); }, run: () => ({ sides: [] }) },
}));
`;

/** A shop whose plugin imports a file from beside its folder. */
const IMPORTING: Files = {
  ...TOSS,
  "plugins/toss.ts": `import "../lib/coins.ts";\n${TOSS["plugins/toss.ts"]}`,
  "lib/coins.ts": 'export const SIDES = ["heads"];',
};

/** Leaves a rejected promise when something outside is missing. */
const LEFT = 'if (process.env.COINS_ARE_OUT) Promise.reject(new Error("out of coins"));\n';

async function faultsOf(set: ManifestSet): Promise<string[]> {
  const plugins = await loadPlugins(set, { ...toIdleLent(set), env: {} });
  return [...set.faults, ...plugins.faults].map(({ code }) => code);
}

const digestOf = async (files: Files): Promise<string | undefined> => digestSet(await makeDirectory(files));

describe("a set that was found sound", () => {
  it("is known again wherever it lies", async () => {
    const sound = await digestOf(TOSS);
    expect(sound).to.match(/^[0-9a-f]{64}$/);
    expect(await digestOf(TOSS)).to.equal(sound);
  });

  it("checks what it is called with as before", async () => {
    const set = await loadSet(await makeDirectory(TOSS), { isKnown: true });
    const { check, coerce } = set.compile("TossRequest");
    expect(check(coerce({ coins: "2" }), "query").value).to.deep.equal({ coins: 2 });
    expect(check({}, "body").value).to.deep.equal({ coins: 1 });
    expect(check({ coins: 0 }, "body").issues).to.have.length(1);
    expect(set.compile("TossResponse").check({ sides: ["edge"] }, "body").issues).to.have.length(1);
  });

  it("is not tried again: neither its schemas nor its examples, by schema or by the handler's own rules", async () => {
    const files = edit(TOSS, "manifests/toss.yaml", "heads", "edge");
    const dir = await makeDirectory({ ...files, ...BROKEN, "plugins/toss.ts": REFUSING });
    expect(await faultsOf(await loadSet(dir))).to.have.members(["bad-schema", "bad-example", "bad-example"]);
    expect(await faultsOf(await loadSet(dir, { isKnown: true }))).to.deep.equal([]);
  });

  const changes: Record<string, Files> = {
    "a schema": edit(TOSS, REQUEST, "100", "99"),
    "a key that is none": edit(TOSS, "manifests/toss.yaml", "tags:", "tagz: [a]\ntags:"),
    "a manifest": edit(TOSS, "manifests/toss.yaml", '"0.01"', '"0.02"'),
    "the site": edit(TOSS, "manifests/_site.yaml", "title: ", "title: A "),
    "a plugin": { ...TOSS, "plugins/toss.ts": REFUSING },
    "a file of a plugin's folder": { ...TOSS, "plugins/toss/rules.ts": "export const LIMIT = 1;" },
    "a file that a plugin imports": { ...IMPORTING, "lib/coins.ts": "export const SIDES = [];" },
    "the version of a package": { ...TOSS, "package.json": '{ "dependencies": { "coins": "2.0.0" } }' },
    "the name of a schema": { ...TOSS, "schemas/Edge.json": TOSS["schemas/Side.json"] as string },
  };
  for (const [what, files] of Object.entries(changes))
    it(`is another one when ${what} changes`, async () => {
      expect(await digestOf(files)).to.not.equal(await digestOf("lib/coins.ts" in files ? IMPORTING : TOSS));
    });

  it("is not known when a part of it cannot be read", async () => {
    const dir = await makeDirectory(TOSS);
    await symlink(join(dir, "schemas"), join(dir, "plugins", "linked"));
    expect(digestSet(dir)).to.equal(undefined);
  });

  it("is refused all the same when a file says it twice, or when a file is there that belongs to no set", async () => {
    const twice = edit(TOSS, "manifests/toss.yaml", "tags:", "title: Coin toss\ntags:");
    const dir = await makeDirectory({ ...twice, "schemas/notes.txt": "" });
    const { faults } = await loadSet(dir, { isKnown: true });
    expect(faults.map(({ code }) => code)).to.deep.equal(["duplicate-key", "unexpected-file"]);
  });
});

describe("a server that starts again", () => {
  it("has noted the set that it sells, sells it again, and refuses to sell one whose schema or plugin was broken", async () => {
    const sandbox = await sharedSandbox();
    const data = createFolder();
    const unseen = `// ${data}\n${LEFT}${TOSS["plugins/toss.ts"]}`; // Otherwise an earlier start may have been noted.
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": unseen });
    const begin = () => startSeller({ sandbox, dataDir: data, dir, env: { COINS_ARE_OUT: out } });
    let out = "";
    await (await begin()).stop();
    expect(await readSoundSet(data)).to.equal(digestSet(dir));
    out = "yes";
    const again = await begin();
    expect(again.output(), "what the plugin leaves rejected").to.match(/plugin\.rejected/);
    const answer = await fetch(`${again.url}/v1/toss`, { method: "POST" });
    expect(answer.status).to.equal(402);
    await again.stop();
    await writeFiles(dir, { ...TOSS, ...BROKEN, "plugins/toss.ts": REFUSING });
    const env = { ...sandbox.env, PORT: "0", PUBLIC_BASE_URL: again.url, PAYPHONE_DATA_DIR: data };
    const { code, err } = await runPayphone(["serve", "--strict", "--dir", dir], env);
    expect(code, err).to.equal(2);
    expect(err).to.contain("no coins").and.to.contain('no such keyword; did you mean "properties"?');
  });
});
