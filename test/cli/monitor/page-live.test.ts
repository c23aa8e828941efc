import { expect } from "chai";
import type { Page, Route } from "playwright-core";
import { TOSS } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { withBrowser } from "../../support/programs.ts";
import { ADMIN_TOKEN, type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, stockFetch } from "../../support/sellers/stock-buyer.ts";
import { DESKTOP, keepDrawn, openVisits, sharedBrowser } from "../../surfaces/pages/explorer/support/browser.ts";

/** The time is the test's. */
const prepare = async (page: Page): Promise<void> => {
  await page.clock.install();
  await keepDrawn(page);
};

withBrowser.describe("a page of the seller", () => {
  let shop: OperatedShop;
  let page: Page;
  before(async () => {
    shop = await openOperatedShop(TOSS);
  });
  after(() => shop.close());

  describe("that is left open", () => {
    const visit = openVisits();
    beforeEach(async () => {
      page = await visit(`${shop.running.admin.url}/?token=${ADMIN_TOKEN}`, DESKTOP, prepare);
      await page.locator(".uplot canvas").waitFor();
    });

    it("draws its line again, with the table and the time", async () => {
      await page.locator("figure summary").click();
      await page.route("**/", async (route) => {
        const response = await route.fetch();
        const body = (await response.text())
          .replace(/&quot;values&quot;:\[0/, "&quot;values&quot;:[700")
          .replace("<td>$0</td>", "<td>$700</td>")
          .replace(/<time>.*<\/time>/, "<time>then</time>");
        await route.fulfill({ response, body });
      });
      await page.clock.fastForward(10_000);
      await page.locator("footer time", { hasText: "then" }).waitFor();
      expect(await page.locator("figure td", { hasText: "$700" }).isVisible()).to.equal(true);
      expect(await page.locator(".uplot").count()).to.equal(1);
      expect(await page.evaluate("drawn")).to.include("$600");
      await page.setViewportSize({ width: 500, height: 900 });
      await page.locator('.u-wrap[style*="width: 4"]').waitFor();
    });

    it("draws its line in the colours of a system that has changed them", async () => {
      const borderOf = (): Promise<string> =>
        page.evaluate("getComputedStyle(document.querySelector('.u-series:last-child .u-marker')).borderColor");
      const light = await borderOf();
      await page.emulateMedia({ colorScheme: "dark" });
      await eventually(async () => (await borderOf()) !== light);
      expect(await page.locator(".uplot").count()).to.equal(1);
      await page.emulateMedia({ colorScheme: "light" });
      await eventually(async () => (await borderOf()) === light);
    });

    it("says that its figures are old while a request has no answer, and asks no second time meanwhile", async () => {
      const held: Route[] = [];
      await page.route("**/", (route) => void held.push(route));
      const asked = page.waitForRequest(/\/$/);
      await page.clock.fastForward(10_000);
      await asked;
      const failed = page.waitForEvent("requestfailed");
      for (const _ of [1, 2, 3]) await page.clock.fastForward(10_000);
      await failed;
      expect(held).to.have.length(1);
      await page.getByText("The shop does not answer: these figures are old.").waitFor();
      await page.unroute("**/");
      await page.clock.fastForward(10_000);
      await page.locator("#_live:empty").waitFor({ state: "attached" });
    });

    it("no longer says that nothing was sold once something was", async () => {
      await page.getByText("Nothing was sold yet.").waitFor();
      const pay = await stockFetch(shop.sandbox, "base");
      expect((await pay(`${shop.running.url}/v1/toss`, json({}))).status).to.equal(200);
      await page.clock.fastForward(10_000);
      await page.locator(".tile", { hasText: "Sales" }).locator("dd", { hasText: /^1/ }).waitFor();
      expect(await page.getByText("Nothing was sold yet.").count()).to.equal(0);
      const buyers = page.locator(".tile", { hasText: "Buyers" }).locator("dd");
      expect(await buyers.innerText(), "of the same moment").to.match(/^1\b/);
    });
  });

  describe("with a link to it on another site, which", () => {
    beforeEach(async () => {
      page = await (await sharedBrowser()).newPage();
    });
    afterEach(() => page.context().close());

    /** Follows a link on a page of `localhost`, which is another site than the address of the seller's pages. */
    async function follow(path: string): Promise<void> {
      const elsewhere = new URL("/docs", shop.running.url);
      elsewhere.hostname = "localhost";
      await page.goto(elsewhere.href);
      await page.evaluate(
        `document.querySelector("h1").innerHTML = '<a href="${shop.running.admin.url}${path}">Go</a>'`,
      );
      await page.locator("h1 a").click();
    }

    it("leads there who is signed in, though the browser holds the cookie back at first", async () => {
      await page.goto(`${shop.running.admin.url}/?token=${ADMIN_TOKEN}`);
      await follow("/sales?q=a");
      await page.locator("h1", { hasText: "Sales" }).waitFor();
      expect(page.url()).to.equal(`${shop.running.admin.url}/sales?q=a`);
    });

    it("signs in who follows one with the token", async () => {
      await follow(`/sales?token=${ADMIN_TOKEN}`);
      await page.locator("h1", { hasText: "Sales" }).waitFor();
      expect(page.url()).to.equal(`${shop.running.admin.url}/sales`);
    });

    it("asks others for the token, once", async () => {
      const again = page.waitForResponse(
        async (response) =>
          response.status() === 401 && (await response.request().allHeaders())["sec-fetch-site"] === "same-origin",
      );
      await follow("/sales");
      expect((await again).headers()).not.to.have.property("refresh");
      await page.getByLabel("The token").waitFor();
    });
  });
});
