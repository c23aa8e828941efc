import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { runRecord } from "../../../runtime/cli/record/record.ts";
import { openSource, type ScriptedSource } from "../../support/sources/scripted-source.ts";

const PICTURES = join(import.meta.dirname, "../../examples/pictures");
const FILE = "recordings/studio/red.png";
const PNG = Buffer.from("89504e470d0a1a0affd8fe00", "hex");

describe("payphone record, of a service without code", () => {
  let source: ScriptedSource;
  let dir: string;
  before(async () => {
    source = await openSource();
    dir = await mkdtemp(join(tmpdir(), "payphone-set-"));
    await cp(PICTURES, dir, { recursive: true });
    const site = join(dir, "manifests/_site.yaml");
    await writeFile(site, (await readFile(site, "utf8")).replace("https://studio.example.com", source.url));
  });
  after(async () => {
    await source.close();
    await rm(dir, { recursive: true });
  });
  const record = () => runRecord({ dir, ids: [], check: false, env: { STUDIO_KEY: "key-of-the-studio" } });

  it("asks its upstream again with the credential in the query, and keeps a file byte by byte", async () => {
    source.script({ headers: { "content-type": "image/png" }, body: PNG });
    const { report } = await record();
    expect(report).to.contain("written: ").and.to.contain(FILE);
    expect(await readFile(join(dir, FILE))).to.deep.equal(PNG);
    const [asked] = source.asked;
    expect([asked?.method, asked?.path]).to.deep.equal(["POST", "/v2/images?key=key-of-the-studio"]);
    expect(JSON.parse(asked?.body ?? "")).to.deep.equal({ prompt: "A square in red", size: 1 });
    expect(report + (await readFile(join(dir, "recordings/studio/draw.json"), "utf8"))).to.not.contain("key-of-the");
  });

  it("keeps nothing that repeats the credential", async () => {
    source.script({ headers: { "content-type": "image/png" }, body: Buffer.from("key-of-the-studio") });
    expect((await record()).report).to.contain("not recorded");
    expect(await readFile(join(dir, FILE))).to.deep.equal(PNG);
  });
});
