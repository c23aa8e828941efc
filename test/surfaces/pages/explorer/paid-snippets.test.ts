import { execFile } from "node:child_process";
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { toSnippets } from "../../../../runtime/surfaces/pages/snippets.ts";
import { makeDirectory } from "../../../core/set/served-directory.ts";
import { BLOCKS } from "../../../rails/shop.ts";
import { openProxyShop, type ProxyShop } from "../../../support/sellers/proxy-shop.ts";
import { ROOT, showSet } from "../../support/fixture-set.ts";

const PICTURES = join(ROOT, "runtime/docs/examples/pictures");
const PNG = join(PICTURES, "recordings/studio/red.png");

async function codeOf(title: string, dir: string, url: string): Promise<string> {
  const { service, set } = await showSet(dir);
  return toSnippets(service("draw"), set.site, url).find((one) => one.title === title)?.code ?? "";
}

/** Runs code as a module in a folder of its own. @returns the folder */
async function run(code: string): Promise<string> {
  const dir = await makeDirectory({ "buy.mjs": code });
  await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
  const env = { PATH: process.env.PATH, BUYER_EVM_KEY: generatePrivateKey() };
  await promisify(execFile)(process.execPath, ["buy.mjs"], { cwd: dir, env });
  return dir;
}

describe("a snippet of a service that sells a file", () => {
  it("reads no JSON out of it: Python", async () => {
    expect(await codeOf("Python", PICTURES, "https://studio.example"))
      .to.include('with open("draw.png", "wb") as file:\n        file.write(response.content)')
      .and.not.include("json()");
  });
});

describe("a snippet of a shop whose token stock clients do not know", () => {
  let shop: ProxyShop;
  let dir: string;
  before(async () => {
    dir = await makeDirectory({});
    await cp(PICTURES, dir, { recursive: true });
    const file = join(dir, "manifests/_site.yaml");
    const site = await readFile(file, "utf8");
    const [start, end] = [site.indexOf("rails:\n"), site.indexOf("yen_tiers:")];
    await writeFile(file, `${site.slice(0, start)}rails:\n${BLOCKS.get("usdt0-arbitrum")}${site.slice(end)}`);
    shop = await openProxyShop({ files: dir, isRecorded: true });
  });
  after(() => shop?.close());

  it("lets the client pay in it, up to the price, and keeps the file that it has paid for: fetch", async () => {
    const code = await codeOf("fetch", dir, shop.url);
    const folder = await run(code);
    expect(await readFile(join(folder, "draw.png"))).to.deep.equal(await readFile(PNG));
    expect(shop.rail.moved.size).to.equal(1);
    const dearer = code.replace(/maxAmountPerPayment: "\d+"/, (cap) => cap.replace('"10000"', '"9999"'));
    const refused = await run(dearer).catch((error: Error) => error.message);
    expect(refused).to.include("rejected by spendControls");
    expect(shop.rail.moved.size).to.equal(1);
  });
});
