import { expect } from "chai";
import type { Browser, Page } from "playwright-core";
import { sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { withBrowser } from "../../../support/programs.ts";
import { DESKTOP, sharedBrowser, visit } from "./support/browser.ts";
import { type Counter, openCounter } from "./support/counter.ts";
import { createFakeWallet } from "./support/wallet.ts";

/** Two wallets, the first of which announces itself twice, by objects of its own each time, and announcements of none. */
const announces = async (page: Page): Promise<void> => {
  await page.addInitScript(`addEventListener("eip6963:requestProvider", () => {
    const announce = (detail) => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    const toWallet = (name) => ({
      info: { uuid: "id of " + name, name, icon: "data:,", rdns: "test" },
      provider: { request: () => new Promise(() => {}) },
    });
    for (const name of ["Twice", "Twice", "Once"]) announce(toWallet(name));
    for (const none of [null, {}, { info: { uuid: "1", name: "None" } }, { provider: {} }]) announce(none);
  });`);
};

withBrowser.describe("the explorer beside wallets of all kinds", () => {
  let sandbox: TestSandbox;
  let counter: Counter;
  let browser: Browser;

  before(async () => {
    browser = await sharedBrowser();
    sandbox = await sharedSandbox();
    counter = await openCounter(sandbox, false);
  });
  after(() => counter?.close());

  it("has one button for each of several, and says which one is to sign", async () => {
    const { page, complaints, close } = await visit(browser, `${counter.url}/docs/roll`, DESKTOP, announces);
    await page.locator("#roll button[type=submit]").click();
    await page.locator("#roll .pay").first().waitFor();
    expect(await page.locator("#roll .pay").allInnerTexts()).to.deep.equal(["Pay with Twice", "Pay with Once"]);
    await page.getByRole("button", { name: "Pay with Once" }).click();
    await page.getByText("Signing 0.001 USDC on Base with Once …").waitFor();
    await page.goto(`${counter.url}/docs/purchases`);
    await page.locator("#purchases button[type=submit]").click();
    await page.getByRole("button", { name: "Sign in with Twice" }).click();
    await page.getByText("Signing in with Twice …").waitFor();
    await close();
    expect(complaints).to.deep.equal([]);
  });

  it("takes a signature that ends with 0 or 1, which tokens do not take", async () => {
    const { private_key: key } = sandbox.description.buyer.evm;
    const wallet = createFakeWallet({ key, chainId: 8453, countsFromZero: true });
    const { page, complaints, close } = await visit(browser, `${counter.url}/docs/roll`, DESKTOP, wallet.into);
    await page.locator("#roll button[type=submit]").click();
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    await page.locator("#roll .answer h3", { hasText: /^(?:200 OK|402: the payment)/ }).waitFor();
    expect(await page.locator("#roll .answer").innerText()).to.match(/^200 OK/);
    await close();
    expect(complaints).to.deep.equal([]);
  });

  for (const hours of [-1, 24])
    it(`takes a payment from a machine whose clock is wrong by ${hours} h`, async () => {
      const wallet = createFakeWallet({ key: sandbox.description.buyer.evm.private_key, chainId: 8453 });
      const { page, complaints, close } = await visit(browser, `${counter.url}/docs/roll`, DESKTOP, async (made) => {
        await wallet.into(made);
        await made.addInitScript(`const { now } = Date; Date.now = () => now() + ${hours} * 3_600_000;`);
      });
      await page.locator("#roll button[type=submit]").click();
      await page.getByRole("button", { name: "Pay with browser wallet" }).click();
      await page.locator("#roll").getByRole("heading", { name: "200 OK" }).waitFor();
      await close();
      expect(complaints).to.deep.equal([]);
    });
});
