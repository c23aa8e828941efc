import { expect } from "chai";
import { toIdleLent } from "../../runtime/cli/check.ts";
import { loadPlugins, loadSet, type ManifestSet } from "../../runtime/cli/load.ts";
import { readSoundSet } from "../../runtime/cli/sound-set.ts";
import { edit, type Files, makeDirectory, removeDirectories, TOSS, writeFiles } from "../manifests/served-directory.ts";
import { sharedSandbox } from "../support/chains.ts";
import { createDataDir, startSeller } from "../support/seller.ts";

const REQUEST = "schemas/TossRequest.json";
const misspelt = edit(TOSS, REQUEST, '"minimum"', '"minimun"');

/** A plugin whose own rules refuse every example. */
const REFUSING = `import { definePlugin } from "#plugin";
export default definePlugin("toss", () => ({
  toss: { check() { throw new Error("no coins"); }, run: () => ({ sides: [] }) },
}));
`;

async function faultsOf(set: ManifestSet): Promise<string[]> {
  const plugins = await loadPlugins(set, { ...toIdleLent(set), env: {} });
  return [...set.faults, ...plugins.faults].map(({ code }) => code);
}

const digestOf = async (files: Files): Promise<string> => (await loadSet(await makeDirectory(files))).digest;

describe("a set that was found sound", () => {
  after(removeDirectories);

  it("is known again wherever it lies, and checks what it is called with as before", async () => {
    const sound = await digestOf(TOSS);
    const set = await loadSet(await makeDirectory(TOSS), sound);
    expect(set.isKnown).to.equal(true);
    const { check, coerce } = set.compile("TossRequest");
    expect(check(coerce({ coins: "2" }), "query").value).to.deep.equal({ coins: 2 });
    expect(check({}, "body").value).to.deep.equal({ coins: 1 });
    expect(check({ coins: 0 }, "body").issues).to.have.length(1);
    expect(set.compile("TossResponse").check({ sides: ["edge"] }, "body").issues).to.have.length(1);
  });

  it("is not tried again: neither its schemas nor its examples, by schema or by the handler's own rules", async () => {
    const files = edit(TOSS, "manifests/toss.yaml", "heads", "edge");
    const broken = { "schemas/Broken.json": '{ "type": "object", "propertys": {} }', "plugins/toss.ts": REFUSING };
    const dir = await makeDirectory({ ...files, ...broken });
    const faulty = await loadSet(dir);
    expect(await faultsOf(faulty)).to.have.members(["bad-schema", "bad-example", "bad-example"]);
    expect(await faultsOf(await loadSet(dir, faulty.digest))).to.deep.equal([]);
  });

  const changes: Record<string, Files> = {
    "a schema": edit(TOSS, REQUEST, "100", "99"),
    "a key that is none": edit(TOSS, "manifests/toss.yaml", "tags:", "tagz: [a]\ntags:"),
    "a manifest": edit(TOSS, "manifests/toss.yaml", '"0.01"', '"0.02"'),
    "the site": edit(TOSS, "manifests/_site.yaml", "title: ", "title: A "),
    "the name of a schema": { ...TOSS, "schemas/Edge.json": TOSS["schemas/Side.json"] as string },
  };
  for (const [what, files] of Object.entries(changes))
    it(`is another one when ${what} changes`, async () => {
      const set = await loadSet(await makeDirectory(files), await digestOf(TOSS));
      expect(set.isKnown).to.equal(false);
    });

  it("is refused all the same when a file says it twice, or when a file is there that belongs to no set", async () => {
    const twice = edit(TOSS, "manifests/toss.yaml", "tags:", "title: Coin toss\ntags:");
    const dir = await makeDirectory({ ...twice, "schemas/notes.txt": "" });
    const { faults, isKnown } = await loadSet(dir, await digestOf(TOSS));
    expect(isKnown).to.equal(true);
    expect(faults.map(({ code }) => code)).to.deep.equal(["duplicate-key", "unexpected-file"]);
  });
});

describe("a server that starts again", function () {
  this.timeout(60_000);
  after(removeDirectories);

  it("has noted the set that it sells, sells it again, and refuses to sell a broken one", async () => {
    const sandbox = await sharedSandbox();
    const dir = await makeDirectory(TOSS);
    const data = createDataDir();
    const begin = () => startSeller({ sandbox, dataDir: data.path, dir });
    try {
      await (await begin()).stop();
      expect(await readSoundSet(data.path)).to.equal((await loadSet(dir)).digest);
      const again = await begin();
      const answer = await fetch(`${again.url}/v1/toss`, { method: "POST" });
      expect(answer.status).to.equal(402);
      await again.stop();
      await writeFiles(dir, misspelt);
      const failure = await begin().then(() => undefined, String);
      expect(failure).to.contain("ended with code 2").and.to.contain('no such keyword; did you mean "minimum"?');
    } finally {
      data.remove();
    }
  });
});
