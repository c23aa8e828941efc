import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { TOSS } from "../../core/set/served-directory.ts";
import { withBrowser } from "../../support/programs.ts";
import { ADMIN_TOKEN, type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { sharedBrowser } from "../../surfaces/pages/explorer/support/browser.ts";

withBrowser.describe("a link on another site to the seller's pages", () => {
  let shop: OperatedShop;
  let browser: Browser;
  let page: Page;
  before(async () => {
    [shop, browser] = await Promise.all([openOperatedShop(TOSS), sharedBrowser()]);
  });
  after(() => shop.close());
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(() => page.context().close());

  /** Follows a link on a page of `localhost`, which is another site than the address of the seller's pages. */
  async function follow(path: string): Promise<void> {
    const elsewhere = new URL("/docs", shop.running.url);
    elsewhere.hostname = "localhost";
    await page.goto(elsewhere.href);
    await page.evaluate(`document.querySelector("h1").innerHTML = '<a href="${shop.running.admin.url}${path}">Go</a>'`);
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
