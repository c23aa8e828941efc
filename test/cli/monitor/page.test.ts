import { request } from "node:http";
import { expect } from "chai";
import { toFee } from "../../../runtime/core/books/fees.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { edit, TOSS } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { eventually } from "../../support/eventually.ts";
import { ADMIN_TOKEN, type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, receiptOf, signFor, stockClient, stockFetch } from "../../support/sellers/stock-buyer.ts";

const EVIL = "<img src=x onerror=alert(1)>";
const OWN = `0x${"Ab".repeat(20)}`;
const SHOP = edit(
  TOSS,
  "manifests/_site.yaml",
  /title: .*/.exec(TOSS["manifests/_site.yaml"] ?? "")?.[0] ?? "",
  `title: "${EVIL}"\nbooks: { own: ["${OWN}"] }`,
);
const VIEWS = ["/", "/funnel", "/services", "/sales", "/buyers", "/jobs"];

describe("the seller's pages", () => {
  let shop: OperatedShop;
  let transaction: string;
  let requestId: string;
  before(async () => {
    shop = await openOperatedShop(SHOP);
  });
  after(() => shop.close());

  const read = async (path: string): Promise<string> => {
    const response = await shop.admin(path);
    expect(response.status, path).to.equal(200);
    return response.text();
  };

  it("say on the first day that nothing was sold yet", async () => {
    expect(await read("/")).to.include("Nothing was sold yet");
    for (const view of VIEWS) expect(await read(view), view).to.include("</html>");
  });

  it("show a sale in every view, and find it by its transaction, payer and request id", async () => {
    requestId = "order-4711";
    const pay = await stockFetch(shop.sandbox, "base");
    const response = await pay(`${shop.running.url}/v1/toss`, json({}, { "x-request-id": requestId }));
    transaction = receiptOf(response).transaction;
    const payer = receiptOf(response).payer as string;
    expect(await read("/")).to.match(/<dt>Revenue<\/dt><dd>\$0\.01</);
    expect(await read("/services")).to.include("$0.01");
    for (const text of [transaction, payer, payer.toUpperCase(), requestId])
      expect(await read(`/sales?q=${text}`), text).to.include(transaction);
    const nobody = await read("/sales?q=nobody");
    expect(nobody).to.include("Nothing in the book has").and.not.to.include("Nothing yet");
    expect(await read("/buyers")).to.include(payer.toLowerCase());
    expect(await read(`/buyers/${payer}`)).to.include("deny:");
    const [, id] = /href="(\/sales\/sale_[0-9a-f]+)"/.exec(await read("/sales")) as RegExpExecArray;
    const sale = await read(id as string);
    for (const text of ["The payment was verified", "The work was done", "The settlement was known", requestId])
      expect(sale).to.include(text);
    const month = new Date().toISOString().slice(0, 7);
    expect(await read(`/?month=${month}`)).to.match(/<dt>Revenue<\/dt><dd>\$0\.01</);
    expect(await read("/services/toss")).to.match(/<td>\d{4}-\d\d-\d\d [\d:]{8}<\/td><td>\$0.01<\/td>/);
    const missing = await shop.admin("/services/nothing");
    expect(missing.status).to.equal(404);
    expect(await missing.text())
      .to.include("Nothing of that name")
      .and.to.include('href="/sales"');
  });

  it("find a request id that looks like a wallet, and leave own wallets out of the buyers", async () => {
    const trace = "4bf92f3577b34da6a3ce929d1e1e4736"; // As many tracers make it: 32 of base58's digits.
    const store = await openStore({ dataDir: shop.dataDir });
    const payer = OWN.toLowerCase();
    await store.enter(toSale({ at: Date.now(), service: "toss", requestId: trace, payer }), { key: trace, value: 1 });
    await store.close();
    expect(await read(`/sales?q=${trace}`)).not.to.include("Nothing in the book has");
    expect(await read(`/sales?q=${OWN}`)).to.include("(yours)");
    const today = await read("/?days=7");
    expect(today)
      .to.match(/<dt>Buyers<\/dt><dd>1</)
      .and.to.include("Payments of your own wallets: 1.");
  });

  it("show an amount in the token that was paid, also where its rail has another one now", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const sale = toSale({ at: Date.now(), service: "toss", payer: OWN.toLowerCase(), decimals: 2, amount: "5" });
    await store.enter(sale, { key: sale.id, value: 1 });
    await store.close();
    expect(await read(`/sales/${sale.id}`)).to.include("<dt>Amount</dt><dd>0.05 0xUSDC</dd>");
  });

  it("have what was paid back for a service that sold nothing, so that a month's services add up", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const now = Date.now();
    const sale = toSale({ at: now - 40 * 86_400_000, service: "former", job: "former-1" });
    const refund = { ...sale, kind: "refund", id: "refund_former", at: now, job: "former-1" } as const;
    for (const event of [sale, refund]) await store.enter(event, { key: event.id, value: 1 });
    await store.close();
    const month = await read(`/?month=${new Date(now).toISOString().slice(0, 7)}`);
    expect(month).to.match(/former<\/a><\/td>.*<td>-\$0\.001<\/td>/);
    expect(await read("/sales?q=former-1"), "newest first").to.match(/refund_former[\s\S]*sale_/);
    expect(await read("/sales/refund_former")).to.match(/<dt>Paid back to<.*\s<dt>Rail</);
  });

  it("tell how a sale was answered, then and later, and whom the shop refused", async () => {
    const toss = `${shop.running.url}/v1/toss`;
    const sign = async () => signFor(await stockClient(shop.sandbox, "base"), await fetch(toss, json({})));
    const paid = json({}, await sign());
    const bought = receiptOf(await fetch(toss, paid));
    for (const _ of [1, 2]) expect((await fetch(toss, paid)).status).to.equal(200);
    expect((await fetch(toss, json({ coins: 1000 }, await sign()))).status).to.equal(422);
    const [, id] = /href="(\/sales\/sale_[0-9a-f]+)"/.exec(await read(`/sales?q=${bought.transaction}`)) ?? [];
    const life = await eventually(
      () => read(id as string),
      (page) => page.includes("fetched the answer 2 times"),
      200,
    );
    expect(life).to.include("The answer was sent");
    expect(life.indexOf("The settlement was known")).to.be.below(life.indexOf("The answer was sent"));
    const payer = (bought.payer as string).toLowerCase();
    const row = new RegExp(`<td><a href="/buyers/${payer}">.*invalid-input \\(1\\)`);
    await eventually(
      () => read("/buyers"),
      (page) => row.test(page),
      200,
    );
    expect(await read(`/buyers/${bought.payer}`)).to.include("Why it was refused");
  });

  it("tell that a sale's work has failed, and what is owed for it", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const sale = toSale({ at: Date.now(), service: "toss", job: "failed-work" });
    await store.enter(sale, { key: sale.id, value: 1 });
    expect(await read(`/sales/${sale.id}`)).to.include("its work has not succeeded so far");
    const refund = {
      id: "failed-work",
      service: "toss",
      payment: sale as never,
      openedAt: Date.now(),
    };
    await createRefundRecords(store).open({ ...refund, state: "manual", reason: null });
    await store.close();
    const [, owed] = /href="(\/jobs\/failed-work)"/.exec(await read("/jobs")) as RegExpExecArray;
    for (const path of [`/sales/${sale.id}`, owed as string])
      expect(await read(path), path).to.match(/it waits to be paid back by hand(?![\s\S]*No answer is on record)/);
  });

  it("show what the treasury paid to a chain, in its coin, and of which sale", async () => {
    expect(await read("/"), "a facilitator pays").not.to.include("Fees that the treasury paid");
    const store = await openStore({ dataDir: shop.dataDir });
    const spent = { network: "eip155:8453", at: Date.now(), purpose: "settlement", isReverted: false } as const;
    for (const fee of [
      toFee({ ...spent, transaction, cost: 10n ** 14n + 1n }),
      toFee({ ...spent, transaction: `0x${"0".repeat(64)}`, cost: 10n ** 13n, isReverted: true }),
    ])
      await store.enter(fee, { key: fee.id, value: 1 });
    await store.close();
    const cells = ["Base", "0.00011 ETH", "2", "1", "0.00001 ETH", "0 ETH"].map((cell) => `<td>${cell}</td>`).join("");
    for (const path of ["/", "/?days=30"]) expect(await read(path), path).to.include(cells);
    const [, id] = /href="(\/sales\/sale_[0-9a-f]+)"/.exec(await read(`/sales?q=${transaction}`)) ?? [];
    expect(await read(id as string)).to.include("<dt>Fee</dt><dd>0.000100000000000001 ETH, paid by the treasury</dd>");
  });

  it("count a call that nobody paid for", async () => {
    const tile = async (): Promise<number> => Number(/<dt>Calls<\/dt><dd>(\d+)/.exec(await read("/"))?.[1]);
    const before = await tile();
    expect((await fetch(`${shop.running.url}/v1/toss`, json({}))).status).to.equal(402);
    await eventually(tile, (count) => count === before + 1, 200);
  });

  it("are small", async () => {
    for (const view of VIEWS) expect((await read(view)).length, view).to.be.below(100_000);
  });

  it("escape what strangers and manifests write", async () => {
    for (const path of ["/", `/sales?q=${encodeURIComponent(EVIL)}`, `/sales?service=${encodeURIComponent(EVIL)}`])
      expect(await read(path), path).not.to.include("<img src=x");
    const missing = await shop.admin(`/buyers/${encodeURIComponent(EVIL)}`);
    expect(missing.status).to.equal(404);
    expect(await missing.text()).not.to.include("<img src=x");
  });

  it("are found from a page that tells a browser of a path where nothing is", async () => {
    const { cookie } = await signIn();
    const headers = { cookie, accept: "text/html,*/*;q=0.8" };
    const lost = await fetch(`${shop.running.admin.url}/sale/"><img src=x`, { headers });
    expect([lost.status, lost.headers.get("content-type")]).to.deep.equal([404, "text/html; charset=utf-8"]);
    expect(await lost.text()).to.match(/<p>The admin listener has nothing at \/sale\/(?!.*<img).*<a href="\/">/s);
  });

  it("are for nobody without the token, and none of them is where buyers are", async () => {
    const { admin, url } = shop.running;
    for (const path of [...VIEWS, "/assets/seller.js"]) {
      expect((await fetch(admin.url + path)).status, path).to.equal(401);
      const wrong = { authorization: "Bearer not-the-token-of-this-test-0" };
      expect((await fetch(admin.url + path, { headers: wrong })).status, path).to.equal(401);
      expect((await fetch(`${admin.url}${path}?token=wrong`, { redirect: "manual" })).status, path).to.equal(401);
    }
    const { cookie } = await signIn();
    for (const path of ["/sales", "/buyers", "/jobs"])
      expect((await fetch(url + path, { headers: { cookie } })).status, path).to.equal(404);
  });

  it("give a cookie that no script reads and no other site sends, and that is not the token", async () => {
    const { cookie, raw } = await signIn();
    expect(raw)
      .to.match(/HttpOnly/)
      .and.to.match(/SameSite=Strict/);
    expect(raw).not.to.include(ADMIN_TOKEN);
    expect((await fetch(`${shop.running.admin.url}/sales`, { headers: { cookie } })).status).to.equal(200);
  });

  it("change nothing: there is no form of any other method, and POST is refused", async () => {
    const { cookie } = await signIn();
    for (const path of VIEWS) {
      const forged = { method: "POST", headers: { cookie, origin: "https://evil.example" } };
      expect((await fetch(shop.running.admin.url + path, forged)).status, path).to.equal(405);
    }
    for (const path of ["/apply", "/rollback"])
      expect((await shop.admin(path, { method: "POST" })).status, path).to.be.oneOf([404, 405]);
  });

  it("answer nobody who was led here under another name: DNS rebinding", async () => {
    const { cookie } = await signIn();
    for (const host of ["evil.example", `evil.example:${new URL(shop.running.admin.url as string).port}`])
      expect(await statusAs(host, cookie), host).to.equal(421);
    expect(await statusAs("localhost:1", cookie)).to.equal(200);
  });

  async function signIn(): Promise<{ cookie: string; raw: string }> {
    const answer = await fetch(`${shop.running.admin.url}/?token=${ADMIN_TOKEN}`, { redirect: "manual" });
    expect(answer.status).to.equal(303);
    const raw = answer.headers.get("set-cookie") ?? "";
    return { raw, cookie: raw.split(";")[0] as string };
  }

  function statusAs(host: string, cookie: string): Promise<number | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    request(`${shop.running.admin.url}/sales`, { headers: { host, cookie } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .once("error", reject)
      .end();
    return promise;
  }
});
