import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { saleId } from "../../../runtime/core/books/events.ts";
import { createBookTables } from "../../../runtime/drivers/books/tables.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { TOSS } from "../../core/set/served-directory.ts";
import { toSale } from "../../support/books/sales.ts";
import { withBrowser } from "../../support/programs.ts";
import { ADMIN_TOKEN, type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { DESKTOP, keepDrawn, openVisits, PHONE, sharedBrowser } from "../../surfaces/pages/explorer/support/browser.ts";
import { findFaint } from "../../surfaces/pages/explorer/support/contrast.ts";

/** Chromium prints up to 4/3 of the width between the margins on it. */
const A4 = { width: 917, height: 1000 };
const VIEWS = ["/", "/funnel", "/services", "/sales", "/buyers", "/jobs"];
/** Where pictures are kept for somebody to look at; nowhere unless it is set. */
const { PICTURES } = process.env;
const DAYS = [Date.UTC(2026, 8, 1) / 1000, Date.UTC(2026, 8, 2) / 1000];
const NARROW = { ...PHONE, viewport: { width: 360, height: 740 } };
const PLACES = [
  { name: "a desktop in the dark", options: { ...DESKTOP, colorScheme: "dark" as const } },
  { name: "a narrow phone in the light", options: { ...NARROW, colorScheme: "light" as const } },
];

withBrowser.describe("the seller's pages in a browser", () => {
  const visit = openVisits();
  let shop: OperatedShop;
  let browser: Browser;
  let transaction: string;
  let entry: string;
  before(async () => {
    [shop, browser] = await Promise.all([openOperatedShop(TOSS), sharedBrowser()]);
    entry = `${shop.running.admin.url}/?token=${ADMIN_TOKEN}`;
    const pay = await stockFetch(shop.sandbox, "base");
    transaction = receiptOf(await pay(`${shop.running.url}/v1/toss`, json({}))).transaction;
  });
  after(() => shop.close());

  /** Shows these dollars, at these seconds since the Unix epoch, in the chart of so many days. */
  async function plot(
    page: Page,
    days: number,
    at: readonly number[],
    values: readonly number[],
    marks: readonly object[] = [],
  ): Promise<void> {
    const data = JSON.stringify({ label: "US dollars", byDay: true, at, values, marks });
    await page.route(`**/?days=${days}`, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace(/data-plot="[^"]*"/, `data-plot='${data}'`);
      await route.fulfill({ response, body });
    });
    await page.goto(`${shop.running.admin.url}/?days=${days}`);
    await page.locator(".uplot canvas").waitFor();
  }

  for (const { name, options } of PLACES)
    it(`stand out and fit ${name}, and ask nobody else for anything`, async () => {
      const page = await visit(entry, options);
      expect(page.url(), "the token is not in the address").not.to.include("token");
      for (const view of VIEWS) {
        await page.goto(shop.running.admin.url + view);
        expect(
          await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
          view,
        ).to.equal(0);
        expect(await findFaint(page), view).to.deep.equal([]);
        const file = `${view.slice(1) || "today"}-${name.replaceAll(" ", "-")}.png`;
        if (PICTURES) await page.screenshot({ path: `${PICTURES}/${file}`, fullPage: true });
      }
    });

  it("draw the revenue, and lead to one sale by the keyboard alone", async () => {
    const page = await visit(entry);
    await page.locator(".uplot canvas").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).to.equal("Skip to the content");
    await page.locator("nav a", { hasText: "Sales" }).press("Enter");
    await page.locator("#_q").fill(transaction);
    await page.locator("#_q").press("Enter");
    await page.waitForURL(/\?q=/);
    await page.locator("tbody a").first().press("Enter");
    await page.locator(".life li").first().waitFor();
    expect(await page.locator("h1").textContent()).to.equal("Sale of toss");
  });

  it("draw below nothing what was paid back in an hour that sold less", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const now = Date.now();
    const sale = toSale({ at: now - 40 * 86_400_000, service: "former", job: "former-1", usd: "5" });
    const refund = { ...sale, kind: "refund", id: "refund_former", at: now - 5 * 3_600_000, job: "former-1" } as const;
    for (const event of [sale, refund]) await store.enter(event, { key: event.id, value: 1 });
    await store.close();
    const page = await visit(entry, DESKTOP, keepDrawn);
    await page.locator(".uplot canvas").waitFor();
    expect(await page.evaluate("drawn.filter((text) => text.startsWith('-$'))")).to.include("-$4");
  });

  it("show the whole of each amount beside a chart, and of a point, however large or small", async () => {
    const page = await visit(entry, NARROW, keepDrawn);
    for (const dollars of [10_000_000, 0.000001]) {
      await plot(page, 7, DAYS, [dollars, -dollars]);
      const plain = dollars.toLocaleString("en-US", { maximumFractionDigits: 6 });
      expect(await page.evaluate("drawn")).to.include.members([`$${plain}`, `-$${plain}`]);
      expect(await page.evaluate("cut")).to.deep.equal([]);
      await page.locator(".u-over").hover({ position: { x: 1, y: 9 } });
      expect(await page.locator(".u-legend").innerText(), "of the point below the mouse").to.include(`$${plain}`);
      await page.unrouteAll();
    }
  });

  it("name each day once below a chart, and no day that is not drawn", async () => {
    const santiago = { ...DESKTOP, timezoneId: "America/Santiago" }; // Where 2026-09-06 begins at one o'clock.
    const page = await visit(entry, santiago, keepDrawn);
    const first = Date.UTC(2026, 8, 1) / 1000;
    for (const days of [1, 2, 8, 30]) {
      const at = Array.from({ length: days }, (_, day) => first + day * 86_400);
      await plot(page, 30, at, Array(days).fill(1));
      const named = await page.evaluate<string[]>("drawn.filter((text) => /^\\d\\d-\\d\\d$/.test(text))");
      const drawn = at.map((seconds) => new Date(seconds * 1000).toISOString().slice(5, 10));
      expect(drawn, String(days)).to.include.members(named);
      expect(named, String(days))
        .to.have.length.above(0)
        .and.to.deep.equal([...new Set(named)]);
      await page.unrouteAll();
    }
  });

  it("write no price over another one where a service had many", async () => {
    const page = await visit(entry, NARROW, keepDrawn);
    const at = Array.from({ length: 30 }, (_, day) => (DAYS[0] as number) + day * 86_400);
    const marks = at.map((seconds, day) => ({ at: seconds, text: `$0.00${10 + day}` }));
    await plot(page, 30, at, Array(30).fill(1), marks);
    const written = await page.evaluate<{ text: string; from: number; to: number }[]>(
      "placed.filter(({ text }) => /^\\$0\\.00\\d\\d$/.test(text)).sort((one, other) => one.from - other.from)",
    );
    expect(written.at(-1)?.text, "the newest").to.equal("$0.0039");
    expect(written.length).to.be.above(2);
    for (const [place, { text, from }] of written.entries())
      expect(from, text).to.be.at.least(written[place - 1]?.to ?? 0);
  });

  it("draw where the browser's language is none, and show the figures where nothing can be drawn", async () => {
    const nameless = async (page: Page): Promise<void> => {
      await page.addInitScript(
        'Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix", configurable: true })',
      );
    };
    const page = await visit(entry, DESKTOP, nameless);
    await page.locator(".uplot canvas").waitFor();
    expect(await page.locator("figure details[open]").count()).to.equal(0);
    await page.route("**/uplot.js", (route) => route.abort());
    await page.goto(`${shop.running.admin.url}/services/toss`);
    await page.locator("figure details[open]").waitFor();
  });

  it("print the figures of a chart without JavaScript as well", async () => {
    const context = await browser.newContext({ ...DESKTOP, javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(entry);
    const figure = page.locator("figure tbody td").first();
    expect(await figure.isVisible()).to.equal(false);
    await page.emulateMedia({ media: "print" });
    expect(await figure.isVisible()).to.equal(true);
    await context.close();
  });

  it("are printed whole, however long the names of services", async () => {
    const store = await openStore({ dataDir: shop.dataDir });
    const sale = toSale({ at: Date.now(), service: `a_${"long_".repeat(12)}id`, payer: `0x${"ab".repeat(20)}` });
    await store.enter(sale, { key: sale.id, value: 1 });
    await store.close();
    const page = await visit(entry, { ...DESKTOP, viewport: A4 });
    await page.emulateMedia({ media: "print" });
    for (const view of VIEWS) {
      await page.goto(shop.running.admin.url + view);
      const cut = await page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length",
      );
      expect(cut, view).to.equal(0);
    }
  });

  it("renew their figures while they are looked at", async () => {
    const page = await visit(entry, DESKTOP, (opened) => opened.clock.install());
    const sales = page.locator(".tile", { hasText: "Sales" }).locator("dd");
    const count = Number.parseInt(await sales.innerText(), 10);
    const pay = await stockFetch(shop.sandbox, "base");
    expect((await pay(`${shop.running.url}/v1/toss`, json({}))).status).to.equal(200);
    await page.clock.fastForward(10_000);
    await sales.getByText(new RegExp(`^${count + 1}`)).waitFor();
  });

  it("keep the keyboard's place, and how far a table was scrolled, when their figures are renewed", async () => {
    const page = await visit(entry, NARROW, (opened) => opened.clock.install());
    const table = page.locator("#_best .scroll");
    const count = Number.parseInt(await table.locator("td").nth(3).innerText(), 10);
    await table.locator("a").first().focus();
    await page.evaluate('document.querySelector("#_best .scroll").scrollLeft = 100');
    const pay = await stockFetch(shop.sandbox, "base");
    expect((await pay(`${shop.running.url}/v1/toss`, json({}))).status).to.equal(200);
    await page.clock.fastForward(10_000);
    await table.locator("td:nth-child(4)", { hasText: new RegExp(`^${count + 1}$`) }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).to.equal("toss");
    expect(await page.evaluate('document.querySelector("#_best .scroll").scrollLeft')).to.equal(100);
  });

  it("show what strangers write as it stands, run none of it, and stay small", async () => {
    const evil = [
      '"><img src=x onerror=alert(1)>',
      "\u202Egnp.exe",
      "💸".repeat(5000),
      "javascript:alert(1)",
      "../apply",
    ];
    const db = new DatabaseSync(storeFileOf(shop.dataDir), { timeout: 5000 });
    const book = createBookTables(db);
    for (let sale = 0; sale < 60; sale += 1) {
      const text = evil[sale % evil.length] as string;
      const own = text.slice(0, 40); // Manifests bound what they name.
      const parties = { payer: text, receiver: text, network: text, asset: text, transaction: text };
      const named = { requestId: text, job: text, set: text, service: own, rail: own };
      book.enter(toSale({ ...parties, ...named, id: saleId(`evil ${sale}`), at: Date.now(), usd: "0.01" }));
    }
    db.close();
    const page = await visit(entry, NARROW);
    const { url } = shop.running.admin;
    const sales = evil.map((_, at) => `/sales/${saleId(`evil ${at}`)}`);
    const named = evil
      .slice(0, 2)
      .filter((text) => text.length < 200)
      .flatMap((text) => ["buyers", "services", "jobs"].map((view) => `/${view}/${encodeURIComponent(text)}`));
    const found = evil.map((text) => `/sales?q=${encodeURIComponent(text.slice(0, 200))}`);
    for (const path of [...VIEWS, ...sales, ...named, ...found]) {
      const response = await page.goto(url + path);
      expect(response?.status(), path).to.be.oneOf([200, 404]);
      expect((await response?.body())?.length, path).to.be.below(100_000);
      expect(await page.locator("img[src=x]").count(), path).to.equal(0);
      expect(await page.locator("pre:not([tabindex])").count(), `${path}: can be scrolled by keyboard`).to.equal(0);
      if (response?.status() === 200)
        expect(
          await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"),
          path,
        ).to.equal(0);
    }
  });
});
