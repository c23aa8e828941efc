import { expect } from "chai";
import type { Browser } from "playwright-core";
import { removeDirectories, TOSS } from "../../core/set/served-directory.ts";
import { withBrowser } from "../../support/programs.ts";
import { ADMIN_TOKEN, type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { DESKTOP, PHONE, sharedBrowser, visit } from "../../surfaces/pages/explorer/support/browser.ts";
import { findFaint } from "../../surfaces/pages/explorer/support/contrast.ts";

const VIEWS = ["/", "/funnel", "/services", "/sales", "/buyers", "/jobs"];
/** Where pictures are kept for somebody to look at; nowhere unless it is set. */
const { PICTURES } = process.env;
const NARROW = { ...PHONE, viewport: { width: 360, height: 740 } };
const PLACES = [
  { name: "a desktop in the dark", options: { ...DESKTOP, colorScheme: "dark" as const } },
  { name: "a narrow phone in the light", options: { ...NARROW, colorScheme: "light" as const } },
];

withBrowser.describe("the seller's pages in a browser", () => {
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
  after(async () => {
    await shop.close();
    await removeDirectories();
  });

  for (const { name, options } of PLACES)
    it(`stand out and fit ${name}, and ask nobody else for anything`, async () => {
      const { page, complaints, close } = await visit(browser, entry, options);
      expect(page.url(), "the token is not in the address").not.to.include("token");
      for (const view of VIEWS) {
        await page.goto(shop.running.admin.url + view);
        expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth"), view).to.equal(0);
        expect(await findFaint(page), view).to.deep.equal([]);
        const file = `${view.slice(1) || "today"}-${name.replaceAll(" ", "-")}.png`;
        if (PICTURES) await page.screenshot({ path: `${PICTURES}/${file}`, fullPage: true });
      }
      await close();
      expect(complaints).to.deep.equal([]);
    });

  it("draw the revenue, and lead to one sale by the keyboard alone", async () => {
    const { page, complaints, close } = await visit(browser, entry);
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
    await close();
    expect(complaints).to.deep.equal([]);
  });
});
