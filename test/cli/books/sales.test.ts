import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { stringify } from "yaml";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { fillBook } from "../../support/books/many-sales.ts";
import { toSale, toSpent } from "../../support/books/sales.ts";
import { site } from "../../support/chains/chains.ts";
import { LAUNCHER, type Ran, runPayphone } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";

const YEAR = Date.UTC(2025, 0, 1);
const HOUR = 3_600_000;
const OWN = `0x${"Ab".repeat(20)}`;
const SALES = 5000;

describe("payphone sales", () => {
  let shop: string;
  const ran = new Map<string, Promise<Ran>>();
  /** Runs each command once: it only reads. */
  function run(dataDir: string, ...args: string[]): Promise<Ran> {
    const command = [dataDir, ...args].join(" ");
    const running =
      ran.get(command) ?? runPayphone(["sales", "--dir", shop, ...args], { PAYPHONE_DATA_DIR: join(shop, dataDir) });
    ran.set(command, running);
    return running;
  }
  before(async () => {
    shop = createFolder();
    mkdirSync(join(shop, "manifests"));
    writeFileSync(join(shop, "manifests/_site.yaml"), stringify({ ...site, books: { own: [OWN] } }));
    await fillBook(join(shop, "large"), SALES, YEAR);
    const store = await openStore({ dataDir: join(shop, "small/sandbox") });
    const usdc = { asset: site.rails[0]?.asset ?? "" };
    const evil = toSale({
      ...usdc,
      at: YEAR,
      requestId: '=HYPERLINK("http://x")',
      service: "@roll",
      payer: "+1",
      receiver: "a\r=b\nc",
    });
    const own = toSale({ ...usdc, at: YEAR + 1, payer: OWN.toLowerCase(), usd: "59" });
    const job = toSale({ ...usdc, at: YEAR + 2, job: "job", amount: "1500000", usd: "1.5" });
    const { network, asset, amount, payer } = job;
    const refund = { kind: "refund" as const, id: "refund_1", at: YEAR + 3, job: "job", service: "roll" };
    for (const event of [evil, own, job, { ...refund, network, asset, amount, payer, transaction: "0xback" }])
      await store.enter(event, { key: "key", value: 1 });
    const base = { network: job.network, at: YEAR + 2, cost: 2_100_000_000_000n };
    const fees = [
      toSpent(evil.transaction, { ...base, purpose: "other" }),
      toSpent(job.transaction, base),
      toSpent("0xback", { ...base, purpose: "refund", cost: 5n }),
      toSpent("0xlost", { ...base, at: YEAR + HOUR, isReverted: true }),
    ];
    for (const fee of fees) await store.enter(fee, { key: "key", value: 1 });
    await store.close();
  });

  it("--csv has every line, those that take off as negative numbers, and nothing that a spreadsheet runs", async () => {
    const { out, err, code } = await run("small", "--csv");
    expect([code, err]).to.deep.equal([0, "The sandbox's book: play money.\n"]);
    const [head = "", evil = "", own = "", job = "", refund = ""] = out.split("\r\n");
    expect(head).to.match(/^time_utc,kind,service,currency,amount,amount_atomic,price_usd,counterparty,/);
    expect(evil).to.match(/^2025-01-01T00:00:00\.000Z,sale,'@roll,USDC,0\.001,1000,0\.001,'\+1,/);
    expect(evil).to.include(`"'=HYPERLINK(""http://x"")"`);
    expect(evil).to.include(',"a\r=b\nc",');
    expect(own).to.include(",yes,");
    expect(job).to.include(",sale,roll,USDC,1.5,1500000,1.5,0xaa,");
    expect(refund).to.include(",refund,roll,USDC,-1.5,-1500000,-1.5,0xaa,");
    expect(refund).to.include(",0xback,https://basescan.org/tx/0xback,base,");
  });

  it("leaves own wallets out of revenue, and says so", async () => {
    const { out } = await run("small", "--sandbox");
    expect(out).to.include("(own)");
    expect(out).to.include("2 sales, 1 refund: $0.001 revenue. Left out: 1 sale to your own wallets ($59).");
  });

  it("tells what the treasury paid to the chain, of sales, refunds and what came to nothing", async () => {
    const rows = (await run("small", "--csv")).out.trimEnd().split("\r\n");
    const ends = rows.map((row) => row.split(",").slice(-4));
    expect(ends).to.deep.equal([
      ["fee", "fee_atomic", "fee_currency", "fee_for"],
      ["0.0000021", "2100000000000", "ETH", "other"],
      ["", "", "", ""],
      ["0.0000021", "2100000000000", "ETH", "settlement"],
      ["0.000000000000000005", "5", "ETH", "refund"],
      ["0.0000021", "2100000000000", "ETH", "settlement (reverted)"],
    ]);
    expect(rows.at(-1)).to.match(
      /^2025-01-01T01:00:00\.000Z,fee,,,,,,,,0xlost,https:\/\/basescan\.org\/tx\/0xlost,,eip155:8453,/,
    );
    expect(new Set(rows.map((row) => row.replaceAll(/"[^"]*(""[^"]*)*"/g, "").split(",").length)).size).to.equal(1);
    const { out } = await run("small");
    expect(out).to.match(
      /^Fees paid by the treasury on Base: 0\.000006300000000005 ETH \(4 transactions, 1 of them reverted\)\.$/m,
    );
    expect((await run("small", "--service", "roll")).out, "fees are of no service").not.to.include("Fees paid");
    expect((await run("small", "--csv", "--service", "roll")).out).not.to.include("Z,fee,");
    const [, , job] = (await run("small", "--json")).out.split("\n").map((line) => line && JSON.parse(line));
    expect(job.fee).to.deep.equal({ amount: "2100000000000", decimals: 18, currency: "ETH" });
    expect((await run("small", "show", job.id)).out).to.match(
      /^fee +0\.0000021 ETH for the settlement, 0\.000000000000000005 ETH for the refund$/m,
    );
  });

  it("has the fee of a transaction once when several lines have it, and when it was reverted", async () => {
    const store = await openStore({ dataDir: join(shop, "shared") });
    const of = (transaction: string, seconds: number) =>
      toSale({ at: YEAR + 1000 * seconds, transaction, job: transaction });
    const sales = [of("0xboth", 0), of("0xboth", 1), of("0xback", 2)];
    const fees = [
      toSpent("0xboth", { network: site.rails[0]?.network ?? "", at: YEAR, cost: 10n }),
      toSpent("0xback", { network: site.rails[0]?.network ?? "", at: YEAR, cost: 200n, isReverted: true }),
    ];
    for (const event of [...sales, ...fees]) await store.enter(event, { key: "key", value: 1 });
    await store.close();
    const rows = (await run("shared", "--csv")).out.trimEnd().split("\r\n").slice(1);
    expect(rows.map((row) => row.split(",").slice(-3))).to.have.deep.members([
      ["10", "ETH", "settlement"],
      ["", "", ""],
      ["200", "ETH", "settlement (reverted)"],
    ]);
    const { out } = await run("shared");
    expect(out).to.match(/ 0\.00000000000000021 ETH \(2 transactions, 1 of them reverted\)\.$/m);
    const [group] = (await run("shared", "--json", "--group", "service")).out.split("\n");
    expect(JSON.parse(group ?? "").fees.map(({ atomic }: { atomic: string }) => atomic)).to.deep.equal(["210"]);
  });

  it("--json prints one object a line, of any number of lines, and those that are asked for", async () => {
    const all = await run("large", "--json");
    const lines = all.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).to.have.length(SALES + SALES / 100);
    expect(new Set(lines.map(({ id }) => id)).size).to.equal(lines.length);
    expect(lines[0]).to.include({ kind: "sale", at: "2025-01-01T00:00:00.000Z", door: "mcp", usd: "0.005" });
    expect(lines[1]).to.include({ kind: "refund", sale_id: lines[0].id, amount: "5000", decimals: 6 });
    const asked = ["--from", "2025-03-01", "--to", "2025-03-31", "--service", "report", "--rail", "polygon"];
    const march = (await run("large", "--json", ...asked)).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const wanted = lines.filter(
      ({ at, service, rail }) => at.startsWith("2025-03") && service === "report" && rail === "polygon",
    );
    expect(march.length).to.be.greaterThan(10);
    expect(march).to.deep.equal(wanted);
  });

  it("fails when it is interrupted, so that a part is not taken for the whole", async () => {
    const env = { ...INHERITED, PAYPHONE_DATA_DIR: join(shop, "large") };
    const child = spawn(process.execPath, [LAUNCHER, "sales", "--dir", shop, "--csv"], { env });
    await once(child.stdout, "readable"); // It waits until the rest is read, which a pipe has no room for.
    child.kill("SIGTERM");
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit"), text(child.stdout)]);
    expect([code, err]).to.deep.equal([1, "payphone: Interrupted: this is not the whole list\n"]);
  });

  it("--group gives the same sums whether it reads hours, or the lines themselves", async () => {
    const groups = async (...args: string[]): Promise<unknown[]> =>
      (await run("large", "--group", "service", "--json", ...args)).out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const whole = await groups("--from", "2025-02-01", "--to", "2025-02-28");
    expect(await groups("--from", "2025-02-01", "--to", "2025-02-28T23:59:59.999Z")).to.deep.equal(whole);
    expect(whole[0]).to.have.all.keys("service", "sales", "refunds", "revenue_usd", "own_sales", "received", "fees");
    expect(whole).to.have.length(5);
  });

  it("--group has what the treasury paid, and each fee in one group", async () => {
    const groups = async (...args: string[]): Promise<Record<string, unknown>[]> =>
      (await run("small", "--json", "--group", ...args)).out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    const toFees = (atomic: string, amount: string) => [{ network: "eip155:8453", currency: "ETH", amount, atomic }];
    const lost = toFees("2100000000000", "0.0000021");
    expect((await groups("service")).map(({ service, sales, fees }) => [service, sales, fees])).to.have.deep.members([
      ["@roll", 1, lost],
      ["roll", 1, toFees("2100000000005", "0.000002100000000005")],
      ["", 0, lost],
    ]);
    const all = toFees("6300000000005", "0.000006300000000005");
    expect((await groups("day")).map(({ day, fees }) => [day, fees])).to.deep.equal([["2025-01-01", all]]);
    expect((await groups("payer", "--service", "@roll")).map(({ fees }) => fees)).to.deep.equal([lost]);
    const csv = (await run("small", "--csv", "--group", "day")).out;
    expect(csv.match(/(?<!\r)\n/g), "a line feed alone would belong to the last cell").to.equal(null);
    const rows = csv.trimEnd().split("\r\n");
    expect(rows[0]).to.equal(
      "day,sales,refunds,revenue_usd,own_sales,rail,currency,amount,amount_atomic,fee,fee_atomic,fee_currency,fee_network",
    );
    expect(rows[1]).to.match(/,0\.000006300000000005,6300000000005,ETH,eip155:8453$/);
    expect((await run("small", "--group", "day")).out).to.match(/received +fees\n.* 0\.000006300000000005 ETH$/m);
  });

  it("says where it has looked when there is no store, and what a time looks like", async () => {
    const { err, code } = await run("none");
    expect([code, err]).to.deep.equal([2, err]);
    expect(err).to.include("There is no store in");
    for (const none of ["2025-02-30", "2025-02-30T12:00:00Z", "1969-12-31"])
      expect((await run("none", "--from", none)).err, none).to.include("It must be a day (2026-05-01)");
    const turned = await run("small", "--from", "2025-02-01", "--to", "2025-01-01");
    expect([turned.code, turned.err]).to.deep.equal([2, "payphone: --from must be before --to\n"]);
  });

  it("tells the token's address as the currency where the site no longer has the token", async () => {
    const store = await openStore({ dataDir: join(shop, "removed") });
    await store.enter(toSale({ at: YEAR }), { key: "key", value: 1 });
    await store.close();
    expect((await run("removed", "--csv")).out).to.include(",sale,roll,0xUSDC,0.001,1000,");
    expect((await run("removed", "--csv", "--group", "day")).out).to.include(",base,0xUSDC,0.001,1000,");
    expect((await run("removed")).out).to.include(" 0.001 0xUSDC ");
  });

  it("names the rail of each amount where a coin was taken on several", async () => {
    const store = await openStore({ dataDir: join(shop, "rails") });
    for (const { id: rail, network, asset, decimals } of site.rails) {
      const sale = toSale({ at: YEAR, rail, network, asset, decimals, amount: `1${"0".repeat(decimals)}` });
      await store.enter(sale, { key: sale.id, value: 1 });
    }
    await store.close();
    const { out } = await run("rails", "--group", "day");
    expect(out)
      .to.include("1 USDC (base)")
      .and.to.include("1 USDC (solana)")
      .and.to.match(/1 JPYC[, ]/);
  });

  it("says that nothing was sold under a mistyped name, and tells no fees of other chains then", async () => {
    const { out, err } = await run("small", "--rail", "bace", "--service", "@rol");
    expect(out).to.equal("nothing was sold\n");
    expect(err)
      .to.include('The book has nothing of the service "@rol"; did you mean "@roll"?')
      .and.to.include('The book has nothing of the rail "bace"; did you mean "base"?');
  });

  it("takes only a whole address for a wallet", async () => {
    for (const payer of ["alice", `${OWN}00`])
      expect((await run("small", "--payer", payer)).err).to.include("a whole address: 0x and 40 hex digits, or");
    expect((await run("small", "--payer", OWN.toUpperCase())).out).to.include("59");
  });
});
