import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { recordNew } from "../../../runtime/cli/record/new.ts";
import { runRecord } from "../../../runtime/cli/record/record.ts";
import { loadRecordings } from "../../../runtime/sandbox/recordings/recordings.ts";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
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

  it("records what its examples ask where no recording answers, and then asks nothing", async () => {
    await rm(join(dir, "recordings"), { recursive: true });
    source.script(500, { headers: { "content-type": "image/png" }, body: PNG });
    const asked = source.asked.length;
    const isNew = () => recordNew({ dir, ids: [], env: { STUDIO_KEY: "key-of-the-studio" } });
    const { report: failed, hasFailed } = await isNew();
    expect([failed, hasFailed]).to.deep.equal([
      "example 1 of draw: not recorded: The Studio answered with status 500",
      true,
    ]);
    expect((await isNew()).report).to.match(
      /^recordings\/studio\/draw\.json written\nrecordings\/studio\/[0-9a-f]{16}\.png written$/,
    );
    const [recording] = loadRecordings(dir);
    const [exchange] = recording?.exchanges ?? [];
    expect(exchange?.content).to.deep.equal(PNG);
    expect(exchange?.request).to.include({ method: "POST", path: "/v2/images" });
    expect((await isNew()).report).to.contain("recorded already");
    expect(source.asked.length).to.equal(asked + 2);
    const shop = await openProxyShop({ files: dir, isRecorded: true });
    const response = await shop.buy("/v1/draw", { colour: "red" });
    expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(PNG);
    await shop.close();
  });
});
