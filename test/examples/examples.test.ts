import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { checkDiscovery } from "../../runtime/cli/discovery/check.ts";
import { checkDir } from "../../runtime/cli/set/check.ts";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { eventually } from "../support/eventually.ts";
import { openProxyShop, type ProxyShop } from "../support/sellers/proxy-shop.ts";
import type { Loose } from "../surfaces/mcp/served/support/stall.ts";

const HERE = join(import.meta.dirname, "../../runtime/docs/examples");
const SHOPS = ["pictures", "rest-with-key", "slow-job"];

for (const name of SHOPS)
  describe(`the example ${name}`, () => {
    const dir = join(HERE, name);

    it("has no faults, and no code", async () => {
      expect(await checkDir(dir)).to.deep.equal([]);
      expect(readdirSync(dir)).to.deep.equal(["manifests", "recordings"]);
    });

    it("is what directories take", async () => {
      const findings = await checkDiscovery(dir);
      expect(findings.filter(({ level }) => level === "error")).to.deep.equal([]);
    });

    it("sells its examples from its recordings, as its manifests have them", async () => {
      const { manifests } = await loadSet(dir);
      const shop = await openProxyShop({ files: dir, isRecorded: true });
      try {
        for (const { route, examples, media, job } of manifests)
          for (const { input, output } of examples) {
            const response = await shop.buy(route.slice(route.indexOf("/")), input);
            expect(response.status, await response.clone().text()).to.equal(200);
            if (media) expect(response.headers.get("content-type")).to.equal(media.type);
            else expect(job ? await follow(await response.json()) : await response.json()).to.deep.equal(output);
          }
        expect([shop.rail.moved.size > 0, shop.source.asked.length]).to.deep.equal([true, 0]);
      } finally {
        await shop.close();
      }
    });
  });

async function follow(accepted: unknown): Promise<unknown> {
  const { status_url } = accepted as Loose;
  const { deliverable } = await eventually(
    async () => (await (await fetch(status_url)).json()) as Loose,
    ({ status }) => status === "DELIVERED",
  );
  return deliverable;
}

describe("the example rest-with-key, with the bank itself", () => {
  const open = (url: string, key: string): Promise<ProxyShop> =>
    openProxyShop({ files: join(HERE, "rest-with-key"), env: { BANK_URL: url, BANK_KEY: key } });

  it("sends the key of its operator, and sells nothing without it", async () => {
    const bank = await open("http://127.0.0.1:9", "none"); // For its source alone.
    bank.source.script((response, { headers }) => {
      const isKnown = headers.authorization === "Bearer right-key-1";
      response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
      response.end(isKnown ? '{"base":"EUR","date":"2027-01-15","rates":{"USD":1.1}}' : '{"message":"who are you?"}');
    });
    const [right, wrong] = [await open(bank.source.url, "right-key-1"), await open(bank.source.url, "wrong-key-1")];
    try {
      const input = { base: "EUR", symbols: ["USD"] };
      expect(await (await right.buy("/v1/fx", input)).json()).to.deep.include({ rates: { USD: 1.1 } });
      const refused = await wrong.buy("/v1/fx", input);
      expect([refused.status, await refused.text()].join()).to.match(/^500,(?!.*who are you)/);
      expect([right.rail.moved.size, wrong.rail.moved.size]).to.deep.equal([1, 0]);
    } finally {
      for (const shop of [bank, right, wrong]) await shop.close();
    }
  });
});
