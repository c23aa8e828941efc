import { mkdir, readFile, rmdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { chooseSet } from "../../../runtime/cli/serve/serve.ts";
import type { ReadyReport } from "../../../runtime/server/routes/status.ts";
import { edit, type Files, makeDirectory, writeFiles } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { runPayphone, typePayphone } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";
import { createBuyer, json, receiptOf, signFor, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** On one rail, with which it starts sooner. */
const SHOP = toShop([]);

const PRICES = /"amount":"(\d+)"/;

const priced = (price: string): Files => edit(SHOP, "manifests/toss.yaml", "0.01", price);

describe("a shop that is changed under fire", function () {
  this.timeout(180_000);
  const data = createFolder();
  let sandbox: TestSandbox;
  let dir: string;
  let seller: Seller;

  const start = async (args: readonly string[] = []): Promise<void> => {
    seller = await startSeller({ sandbox, dataDir: data, dir, args, env: { LOG_LEVEL: "info" } });
  };
  before(async () => {
    [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(SHOP)]);
    await start();
  });
  after(() => seller.stop());

  /** What a start would sell. */
  const choose = (strict: boolean) =>
    chooseSet({ dir, config: readConfig({ PAYPHONE_DATA_DIR: data }), isKnown: false, strict, asSold: false });
  /** A command as the operator types it. */
  const type = (...args: string[]) => typePayphone(dir, args, { PAYPHONE_DATA_DIR: data });
  const challenge = async (): Promise<string> => (await fetch(`${seller.url}/v1/toss`, { method: "POST" })).text();
  const asked = async (): Promise<string | undefined> => PRICES.exec(await challenge())?.[1];
  const ready = async (): Promise<ReadyReport> => (await (await fetch(`${seller.url}/ready`)).json()) as ReadyReport;

  it("says that nothing differs, with exit code 0", async () => {
    expect(await type("diff")).to.deep.include({ code: 0 });
  });

  it("names the set that is sold where the folder says the same in other words", async () => {
    const before = (await type("diff")).said.trimEnd();
    await writeFiles(dir, edit(SHOP, "manifests/toss.yaml", "title: ", "title:  "));
    const { code, said } = await type("diff");
    const note = `; the folder, ${readFolder(dir).digest}, differs in comments and the like`;
    expect([code, said.trimEnd()]).to.deep.equal([0, `${before}${note}`]);
    await writeFiles(dir, SHOP);
  });

  it("shows what would change, with exit code 1, and changes nothing by it", async () => {
    const schema = edit(priced("0.02"), "schemas/TossRequest.json", '"maximum": 100', '"maximum": 50');
    await writeFiles(dir, edit(schema, "schemas/TossResponse.json", '"sides":', '"edge": {}, "sides":'));
    const { code, said } = await type("diff");
    expect(code, said).to.equal(1);
    expect(said).to.include("~ toss  $0.01 → $0.02 (+100 %)");
    expect(said).to.include("! toss  input: coins: maximum 100 → 50 (breaking)");
    expect(said).to.include("~ toss  output: edge is new");
    expect(said).to.match(/3 changes, 1 of which may break buyers$/m);
    expect((await type("apply", "--dry-run")).said).to.equal(said);
    expect(await asked()).to.equal("10000");
    const told = JSON.parse((await type("diff", "--json")).said) as { changes: object[] };
    expect(told.changes[0]).to.deep.equal({
      kind: "price",
      service: "toss",
      isBreaking: false,
      text: "$0.01 → $0.02 (+100 %)",
    });
  });

  it("sells the folder when it is told to, and takes what was offered before at the price of then", async () => {
    const challenge = await fetch(`${seller.url}/v1/toss`, { method: "POST" });
    const payment = await signFor(await createBuyer(sandbox), challenge);

    const { code, said } = await type("apply");
    expect(code, said).to.equal(0);
    expect(said).to.match(/is sold now: prepared in \d+ ms, swapped in \d+ ms/);
    expect(await asked()).to.equal("20000");
    const bought = await fetch(`${seller.url}/v1/toss`, json({}, payment));
    expect(bought.status).to.equal(200);
    expect(receiptOf(bought)).to.include({ amount: "10000" });
    expect(await type("apply")).to.deep.include({ code: 0 });
  });

  it("keeps in mind what was sold, since when, and who said so", async () => {
    const { said } = await type("history");
    expect(said.split("\n")[0]).to.match(new RegExp(`^[0-9a-f]{16}  \\S+Z  apply by ${userInfo().username}$`));
    expect(said)
      .to.include("  ~ toss  $0.01 → $0.02 (+100 %)")
      .and.match(/^[0-9a-f]{16} .* start$/m);
  });

  it("changes nothing when the folder is faulty: the faults are printed, with exit code 2", async () => {
    await writeFiles(dir, priced("free"));
    for (const args of [["apply"], ["apply", "--dry-run"], ["diff"]]) {
      const { code, said } = await type(...args);
      expect(code, said).to.equal(2);
      expect(said).to.match(/^manifests\/toss\.yaml:5:8 /m);
    }
    await writeFiles(dir, { ...priced("0.03"), "plugins/toss.ts": "export default 1;\n" });
    const { code, said } = await type("apply");
    expect([code, said]).to.deep.equal([2, said]);
    expect(said).to.match(/^manifests\/toss\.yaml:6:10 .*no plugin/m);
    expect(await asked()).to.equal("20000");
  });

  it("goes on with what it sold when a plugin of the folder ends the process", async () => {
    const text = SHOP["plugins/toss.ts"] as string;
    for (const [end, place] of [
      [`import { exit } from "node:process";\nif (!process.env.NO_SUCH_KEY) exit(0);\n${text}`, "2:31"],
      [text.replace("() => ({", "() => { process.exit(1); return {").replace("}));", "}; });"), "4:53"],
    ] as const) {
      await writeFiles(dir, { ...priced("0.03"), "plugins/toss.ts": end });
      const { code, said } = await type("apply");
      expect([code, said]).to.deep.equal([2, said]);
      const fault = `plugins/toss.ts:${place} plugin-failed process.exit would end the whole shop: throw an error instead`;
      expect(said.split("\n")[0]).to.equal(fault);
      expect(await asked()).to.equal("20000");
    }
  });

  it("goes on when a plugin leaves rejected promises, as it is applied and while it works, and can be mended", async () => {
    const [text = "", left] = [SHOP["plugins/toss.ts"], 'Promise.reject(new Error("nobody waits"));'];
    const sell = (plugin: string) =>
      writeFiles(dir, { ...priced("0.02"), "plugins/toss.ts": plugin }).then(async () => (await type("apply")).code);
    expect(await sell(left + text)).to.equal(2);
    const far = 'import("node:fs/promises").then((fs) => void fs.readFile("/nowhere"));'; // Its error names no plugin.
    expect(await sell(text.replace("return {", `${far} setInterval(() => { ${left} }, 1).unref(); return {`))).to.equal(
      0,
    );
    const buyer = await stockFetch(sandbox, "base");
    for (const _ of "ab") expect((await buyer(`${seller.url}/v1/toss`, json({ coins: 2 }))).status).to.equal(200);
    await eventually(seller.output, (output) => /\/nowhere.*plugin\.rejected/.test(output));
    expect(seller.output()).to.match(/nobody waits.*plugin\.rejected/);
    expect(await sell(`await new Promise((done) => setTimeout(done, 50));${text}`), "the mended one").to.equal(0);
  });

  it("reports a folder that is named like a manifest, though no file has changed", async () => {
    await writeFiles(dir, { ...priced("0.02"), "plugins/toss.ts": SHOP["plugins/toss.ts"] as string });
    await mkdir(join(dir, "manifests/more.yaml"));
    for (const args of [["apply"], ["diff"]]) {
      const { code, said } = await type(...args);
      expect([code, said]).to.deep.equal([2, said]);
      expect(said).to.match(/^manifests\/more\.yaml:1:1 .*is a folder/m);
    }
    await rmdir(join(dir, "manifests/more.yaml"));
  });

  it("sells the folder on SIGHUP, too", async () => {
    await writeFiles(dir, priced("0.04"));
    process.kill(seller.pid, "SIGHUP");
    await eventually(async () => (await asked()) === "40000");
    await eventually(async () => / apply by signal$/.test((await type("history")).said.split("\n")[0] ?? ""));
    process.kill(seller.pid, "SIGHUP");
    await eventually(seller.output, (output) => output.includes('"event":"set.unchanged"'));
  });

  it("sells an earlier set again, also after a restart, until it is told otherwise", async () => {
    const { code, said } = await type("rollback");
    expect(code, said).to.equal(0);
    expect(said).to.include("~ toss  $0.04 → $0.02 (-50 %)");
    expect(await asked()).to.equal("20000");
    for (const strict of [false, true]) {
      const { set, note } = await choose(strict);
      expect(set.manifests.map(({ price }) => price)).to.deep.equal(["0.02"]);
      expect(note).to.match(/was taken back at .*what is sold is the set [0-9a-f]{16}/);
    }
    expect((await type("apply")).code).to.equal(0);
    expect(await asked()).to.equal("40000");
  });

  it("sells the last good set after a restart on a faulty folder, and says so; --strict refuses", async () => {
    await seller.stop();
    await writeFiles(dir, priced("free"));
    const { set, note } = await choose(true);
    expect([set.faults[0]?.file, note]).to.deep.equal(["manifests/toss.yaml", undefined]);
    await start();
    expect(await asked()).to.equal("40000");
    expect((await ready()).warnings?.[0]).to.match(/is faulty: what is sold is the last good set/);
    expect(seller.output()).to.include("manifests/toss.yaml:5:8").and.include("is faulty");
    expect((await type("status")).said).to.match(/^warning .* is faulty/m);
    await writeFiles(dir, priced("0.04"));
    expect((await type("apply")).said, "mended as it was before").to.match(/^nothing to apply/);
    expect((await ready()).warnings).to.equal(undefined);
    await writeFiles(dir, priced("0.05"));
    expect((await type("apply")).code).to.equal(0);
  });

  it("is renamed by an apply, and refused under its earlier name, until a start says that it is renamed", async () => {
    await writeFiles(dir, edit(priced("0.05"), "manifests/_site.yaml", "name: ", "name: new-"));
    expect((await type("apply")).said).to.include("name changed");
    await seller.stop();
    await writeFiles(dir, priced("0.05"));
    const env = { ...sandbox.env, PORT: "0", PUBLIC_BASE_URL: seller.url, PAYPHONE_DATA_DIR: data };
    const { code, err } = await runPayphone(["serve", "--dir", dir], env);
    expect(code, err).to.equal(2);
    expect(err).to.match(/^payphone: \S+ belongs to the shop "new-corner-shop", and this one is /);
    await start(["--renamed"]);
    expect(await asked()).to.equal("50000");
    const changed = /^\S+ {2}\S+ {2}start\n {2}~ +name changed\n/;
    await eventually(async () => changed.test((await type("history")).said)); // It is noted after the server listens.
  });

  it("shows its process and its rails", async () => {
    const pay = await stockFetch(sandbox, "base");
    expect((await pay(`${seller.url}/v1/toss`, json({}))).status).to.equal(200);
    const { said } = await type("status");
    expect(said).to.match(/\/\d+ {2}\d+\.\d+\.\d+ {2}[0-9a-f]{16} {2}up /);
    expect(said)
      .to.match(/^rail +base \(eip155:8453\) up$/m)
      .and.not.include("different");
  });

  it("is told to believe a facilitator again, by a name that it knows", async () => {
    expect(await type("trust", "remote")).to.deep.equal({ code: 0, said: "nothing to do: remote is trusted\n" });
    const unknown = await type("trust", "nobody");
    expect(unknown.code).to.equal(2);
    expect(unknown.said).to.match(/^payphone: No rail is settled by a facilitator nobody; there are: .*remote/);
  });

  it("lets the operator in at the admin port by the token that status prints", async () => {
    const { said } = await type("status", "--token");
    expect(said.trim()).to.match(/^[\w-]{43}$/);
    expect((await readFile(join(data, "admin.token"), "utf8")).trim()).to.equal(said.trim());
  });
});

describe("the command of a shop that does not run", () => {
  it("says so, and what to do", async () => {
    const empty = createFolder();
    const { err } = await runPayphone(["status"], { PAYPHONE_DATA_DIR: empty });
    expect(err).to.match(/^payphone: No payphone runs on .*: "payphone serve" starts one\n$/);
  });
});
