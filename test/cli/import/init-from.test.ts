import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { main } from "../../../runtime/cli/main.ts";
import { faultsOf, fixture, manifestOf, namesIn, openShop } from "./shop.ts";

describe("payphone init --from", () => {
  it("makes a shop that sells the chosen operations, and none where none is chosen", async () => {
    const home = await openShop();
    const init = (...args: string[]): Promise<unknown> =>
      main(["node", "payphone", "init", join(home, "bank"), ...args]);
    const said: string[] = [];
    const { log } = console;
    console.log = (text: string) => void said.push(text);
    try {
      await init("--from", fixture("rates.yaml"));
      expect(await readdir(home)).not.to.include("bank");
      await init("--owner", "Ada", "--from", fixture("rates.yaml"), "--operations", "getRates", "--price", "0.002");
    } finally {
      console.log = log;
    }
    expect(said[0])
      .to.include("getRates")
      .and.match(/npx payphone init .*bank --from .* --operations/);
    expect(await namesIn(join(home, "bank"))).to.include("rates_get_rates");
    expect(await manifestOf(join(home, "bank"), "rates_get_rates")).to.include({ price: "0.002" });
    expect(await faultsOf(join(home, "bank"))).to.deep.equal([]);
  });
});
