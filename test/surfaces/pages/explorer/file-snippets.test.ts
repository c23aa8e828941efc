import { execFile } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { toSnippets } from "../../../../runtime/surfaces/pages/snippets.ts";
import { makeDirectory, removeDirectories } from "../../../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../../../support/sellers/proxy-shop.ts";
import { ROOT, showSet } from "../../support/fixture-set.ts";

const PICTURES = join(ROOT, "runtime/docs/examples/pictures");
const PNG = join(PICTURES, "recordings/studio/red.png");

describe("a snippet of a service that sells a file", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({ files: PICTURES, isRecorded: true });
  });
  after(async () => {
    await shop?.close();
    await removeDirectories();
  });

  async function codeOf(title: string): Promise<string> {
    const { service, set } = await showSet(PICTURES);
    return toSnippets(service("draw"), set.site, shop.url).find((one) => one.title === title)?.code ?? "";
  }

  it("keeps the file that it has paid for: fetch", async () => {
    const dir = await makeDirectory({ "buy.mjs": await codeOf("fetch") });
    await symlink(join(ROOT, "node_modules"), join(dir, "node_modules"));
    const env = { PATH: process.env.PATH, BUYER_EVM_KEY: generatePrivateKey() };
    await promisify(execFile)(process.execPath, ["buy.mjs"], { cwd: dir, env });
    expect(shop.rail.moved.size).to.equal(1);
    expect(await readFile(join(dir, "draw.png"))).to.deep.equal(await readFile(PNG));
  });

  it("reads no JSON out of it: Python", async () => {
    expect(await codeOf("Python"))
      .to.include('with open("draw.png", "wb") as file:\n        file.write(response.content)')
      .and.not.include("json()");
  });
});
