import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { main } from "../../../runtime/cli/main.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { openProxyShop } from "../../support/sellers/proxy-shop.ts";
import { openSource } from "../../support/sources/scripted-source.ts";
import { openShop } from "./shop.ts";

const RATES = { base: "USD", date: "2026-11-20", rates: { EUR: 0.91 } };

describe("payphone import openapi --live", () => {
  it("records what the examples of GETs are answered, which the sandbox then sells, and asks nothing else, nor in a dry run", async () => {
    const source = await openSource();
    const dir = await openShop();
    const document = await readFile(join(ROOT, "test/fixtures/openapi/rates.yaml"), "utf8");
    await writeFile(join(dir, "rates.yaml"), document.replace("https://rates.example.com/v1/", `${source.url}/v1/`));
    const importAll = (...flags: string[]): Promise<void> =>
      main(["node", "payphone", "import", "openapi", join(dir, "rates.yaml"), "--all", ...flags, "--dir", dir]);
    const said: string[] = [];
    const { log } = console;
    console.log = (text: string) => void said.push(text);
    try {
      source.script(
        (response, { path }) => void response.end(path.includes("/rates/") ? JSON.stringify(RATES) : '["EUR","USD"]'),
      );
      await importAll();
      await importAll("--live", "--dry-run");
      expect(source.asked).to.deep.equal([]);
      said.length = 0;
      await importAll("--live");
      expect(source.asked.map(({ method, path }) => `${method} ${path}`).sort()).to.deep.equal([
        "GET /v1/currencies",
        "GET /v1/rates/2026-11-20?base=USD",
      ]);
      await importAll("--live");
    } finally {
      console.log = log;
      await source.close();
    }
    expect(source.asked).to.have.length(2);
    expect(said[0]).to.include("recordings/rates/rates_get_rates.json written");
    expect(said[0]).to.include("note: 1 services may change something and were not asked");
    expect(said[0]).to.include(
      '"payphone test" fails where the API answers otherwise than its document shows: rates_get_rates',
    );
    const shop = await openProxyShop({ files: dir, isRecorded: true });
    try {
      const response = await shop.buy("/v1/rates/get-rates", { date: "2026-11-20", base: "USD" });
      expect([response.status, await response.json()]).to.deep.equal([200, RATES]);
    } finally {
      await shop.close();
    }
  });
});
