import { join } from "node:path";
import { expect } from "chai";
import { describeSandbox } from "../../../runtime/cli/books/chains.ts";
import { fund, makeWallets, toPurse } from "../../../runtime/cli/simulate/wallets.ts";
import type { RailManifest } from "../../../runtime/core/set/manifest.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { toSale } from "../../support/books/sales.ts";
import { site } from "../../support/chains/chains.ts";
import { type Ran, runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { makeProjectShop } from "../../support/sellers/project-shop.ts";
import { type SandboxServer, startSandboxServer } from "../../support/sellers/sandbox-server.ts";

describe("payphone simulate", () => {
  let data: string;
  let dir: string;
  let sandbox: SandboxServer;
  before(async () => {
    data = createFolder();
    dir = await makeProjectShop({ services: ["roll", "parse_datetime"], rails: ["base", "solana", "polygon"] });
    sandbox = await startSandboxServer(["--dir", dir], { PAYPHONE_DATA_DIR: data });
  });
  after(() => sandbox?.stop());
  const run = (...args: string[]): Promise<Ran> =>
    runPayphone(args, { PAYPHONE_DATA_DIR: data, PAYPHONE_URL: sandbox.url });

  it("takes whole buyers only", async () => {
    const { err, code } = await run("simulate", "--dir", dir, "--buyers", "1.5");
    expect([code, err]).to.deep.equal([
      2,
      "error: option '--buyers <count>' argument '1.5' is invalid. It must be a whole number.\n",
    ]);
  });

  it("lets buyers trade, shows how far it is, and ends with book and chains that agree", async () => {
    const { out, err, code } = await run(
      "simulate",
      "--dir",
      dir,
      "--buyers",
      "10",
      "--minutes",
      "0.2",
      "--pause",
      "2",
    );
    expect(code, out + err).to.equal(0);
    expect(err).to.match(/^10 buyers, 2 services, USDC on Base and JPYC on Polygon$/m);
    expect(err).to.match(/^\d+ s: .*paid and served \d+/m);
    expect(err, "one of them has no money").to.match(/refused: insufficient_funds \d+/);
    expect(err, "at every door").not.to.match(/refused: (?:402|input-required)/);
    expect(out).to.match(/^The book and the chains agree to the atom, and the buyers with both\.$/m);
    const sold = [...out.matchAll(/^\w+: (\d+) sales?, /gm)].reduce((sum, [, count]) => sum + Number(count), 0);
    expect(sold).to.be.greaterThan(0);
    for (const door of ["rest", "mcp", "a2a"]) {
      const [, ...counts] =
        new RegExp(`^${door}: (\\d+) sales? .*, (\\d+) answers? had .*, (\\d+) in the funnel$`, "m").exec(out) ?? [];
      const [inBook = 0, served = 0, inFunnel = 0] = counts.map(Number);
      expect(served, `${door}: ${out}${err}`).to.be.greaterThan(0);
      expect(inFunnel, `${door}: nobody else buys here`).to.equal(inBook);
    }
    const sales = await run("sales", "--json");
    expect(sales.err).to.equal("The sandbox's book: play money.\n");
    const lines = sales.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).to.have.length(sold);
    for (const { rail, fee } of lines) expect(fee?.currency, rail).to.equal(rail === "polygon" ? "POL" : undefined);
    expect((await run("sales")).out).to.match(
      /^Fees paid by the treasury on Polygon: 0\.\d+ POL \(\d+ transactions?\)\.$/m,
    );
    const verified = await run("books", "verify");
    expect(verified.code, verified.out + verified.err).to.equal(0);
  });

  it("gives its buyers money while another one gives its own from the same wallet, and says when that is empty", async () => {
    const place = { rail: site.rails[0] as RailManifest, sandbox: await describeSandbox(sandbox.url) };
    await Promise.all([1n, 2n, 3n].map(async (amount) => fund(await makeWallets(10), amount, place)));
    const refused = await fund(await makeWallets(1), 10n ** 30n, place).catch((error: unknown) => error);
    expect((refused as Error).message).to.match(
      /^The sandbox's buyer cannot give the wallets USDC on Base: .*exceeds balance/,
    );
  });

  it("gives them a hundred of the dearest calls, in each currency", () => {
    const purseOf = (currency: string, decimals: number): bigint =>
      toPurse({ ...(site.rails[0] as RailManifest), currency, decimals }, "0.05", {
        currencies: {
          eur: { tiers: { "0.01": "0.009", "0.05": "0.045", "5": "4.5" } },
          krw: { tiers: { "0.05": "70" } },
        },
      });
    expect([purseOf("usd", 6), purseOf("eur", 6), purseOf("krw", 0), purseOf("gbp", 6)]).to.deep.equal([
      5_000_000n,
      4_500_000n,
      7000n,
      0n,
    ]);
  });

  it("leaves sales of an earlier sandbox to its chains, which ended with it", async () => {
    const store = await openStore({ dataDir: join(data, "sandbox") });
    for (const { id: rail, network, asset, decimals } of site.rails) {
      const sale = toSale({ rail, network, asset, decimals, at: Date.now() - 3_600_000 });
      await store.enter(sale, { key: sale.id, value: 1 });
    }
    await store.close();
    const { out, err, code } = await run("books", "verify");
    expect(code, out + err).to.equal(0);
  });

  it("says before anybody buys that the sandbox's book is elsewhere", async () => {
    const env = { PAYPHONE_DATA_DIR: join(data, "elsewhere"), PAYPHONE_URL: sandbox.url };
    const { err, code } = await runPayphone(["simulate", "--dir", dir, "--minutes", "0.01"], env);
    expect(err).to.match(/^payphone: There is no store in .*elsewhere/);
    expect(code).to.equal(2);
  });

  for (const command of ["simulate --minutes 0.01", "books verify"])
    it(`takes no other sandbox's book for the one of the sandbox that runs there: ${command}`, async () => {
      const other = join(data, "other");
      await (await openStore({ dataDir: join(other, "sandbox") })).close();
      const env = { PAYPHONE_DATA_DIR: other, PAYPHONE_URL: sandbox.url };
      const { out, err, code } = await runPayphone([...command.split(" "), "--dir", dir], env);
      expect(err).to.match(/^payphone: The sandbox at http:\S+ keeps its book elsewhere than in .*PAYPHONE_DATA_DIR/m);
      expect([code, out]).to.deep.equal([2, ""]);
    });

  it("does not take a seller for a sandbox that is none", async () => {
    const { err, code } = await runPayphone(["simulate", "--url", "http://127.0.0.1:9"], {
      PAYPHONE_DATA_DIR: data,
    });
    expect([code, err]).to.satisfy(([status, text]: [number, string]) => status === 1 && /end with it/.test(text));
  });
});
