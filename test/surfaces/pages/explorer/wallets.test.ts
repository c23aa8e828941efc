import { expect } from "chai";
import type { Page } from "playwright-core";
import { sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { withBrowser } from "../../../support/programs.ts";
import { DESKTOP, openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";
import { createFakeWallet } from "./support/wallet.ts";

/**
 * Two wallets that answer when the test does, the first of which announces itself twice, by objects of its own each time,
 * and announcements of none.
 */
const announces = async (page: Page): Promise<void> => {
  await page.addInitScript(`globalThis.requests = [];
  addEventListener("eip6963:requestProvider", () => {
    const announce = (detail) => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    const toWallet = (name) => ({
      info: { uuid: "id of " + name, name, icon: "data:,", rdns: "test" },
      provider: { request: () => new Promise((answer) => requests.push(answer)) },
    });
    for (const name of ["Twice", "Twice", "Once"]) announce(toWallet(name));
    for (const none of [null, {}, { info: { uuid: "1", name: "None" } }, { provider: {} }]) announce(none);
  });`);
};

withBrowser.describe("the explorer beside wallets of all kinds", () => {
  const visit = openVisits();
  let sandbox: TestSandbox;
  let counter: Counter;

  before(async () => {
    sandbox = await sharedSandbox();
    counter = await sharedCounter(false);
  });

  it("has one button for each of several, and says which one is to sign", async () => {
    const page = await visit(`${counter.url}/docs/roll`, DESKTOP, announces);
    await page.locator("#roll button[type=submit]").click();
    await page.locator("#roll .pay").first().waitFor();
    expect(await page.locator("#roll .pay").allInnerTexts()).to.deep.equal(["Pay with Twice", "Pay with Once"]);
    await page.getByRole("button", { name: "Pay with Once" }).click();
    await page.getByText("Signing 0.001 USDC on Base with Once …").waitFor();
    await page.goto(`${counter.url}/docs/purchases`);
    await page.locator("#purchases button[type=submit]").click();
    await page.getByRole("button", { name: "Sign in with Twice" }).click();
    await page.getByText("Signing in with Twice …").waitFor();
  });

  it("calls a wallet that announces no name a browser wallet", async () => {
    const page = await visit(`${counter.url}/docs/roll`, DESKTOP, async (made) => {
      await made.addInitScript(`addEventListener("eip6963:requestProvider", () => {
        const detail = { info: { uuid: "1" }, provider: { request: () => new Promise(() => {}) } };
        dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
      });`);
    });
    await page.locator("#roll button[type=submit]").click();
    await page.locator("#roll .pay").first().waitFor();
    expect(await page.locator("#roll .pay").allInnerTexts()).to.deep.equal(["Pay with browser wallet"]);
  });

  it("can be used on where a wallet never answers, and asks it no more when it answers after that", async () => {
    const page = await visit(`${counter.url}/docs/roll`, DESKTOP, announces);
    const stop = page.getByRole("button", { name: "Stop waiting for the wallet" });
    await page.locator("#roll button[type=submit]").click();
    await page.getByRole("button", { name: "Pay with Once" }).click();
    await stop.click();
    await page.getByText("you did not wait for the wallet. What it signs now is not sent. Nothing was paid.").waitFor();
    expect(await page.locator("#roll button:disabled").count()).to.equal(0);
    expect(await stop.count()).to.equal(0);
    await page.evaluate('requests[0](["0x0000000000000000000000000000000000000001"])');
    await page.getByRole("button", { name: "Pay with Twice" }).click();
    await stop.waitFor();
    expect(await page.evaluate("requests.length"), "one of each wallet").to.equal(2);
  });

  it("asks a wallet to sign in no more when nobody waits for its change of chain", async () => {
    const page = await visit(`${counter.url}/docs/purchases`, DESKTOP, announces);
    await page.locator("#purchases button[type=submit]").click();
    await page.getByRole("button", { name: "Sign in with Once" }).click();
    for (const [at, answer] of ['["0x0000000000000000000000000000000000000001"]', '"0x1"', '"0x1"'].entries()) {
      await page.waitForFunction(`requests.length > ${at}`);
      await page.evaluate(`requests[${at}](${answer})`);
    }
    await page.waitForFunction("requests.length === 4");
    await page.getByRole("button", { name: "Stop waiting for the wallet" }).click();
    await page.getByText("The sign-in could not be signed: you did not wait for the wallet.").waitFor();
    expect(await page.evaluate("requests.length"), "none after the change of chain").to.equal(4);
  });

  it("has test money signed as what it is", async () => {
    const page = await visit(`${counter.url}/robots.txt`, DESKTOP, announces);
    await page.route("**/docs/roll", async (route) => {
      const text = await (await route.fetch()).text();
      const body = text.replace(/"sandbox":false(?:,"test":false)?/, '"sandbox":false,"test":true');
      await route.fulfill({ contentType: "text/html", body });
    });
    await page.goto(`${counter.url}/docs/roll`);
    await page.locator("#roll button[type=submit]").click();
    await page.locator("#roll .pay").first().waitFor();
    expect(await page.locator("#roll .due .hint").innerText()).to.match(
      /^This is test money, which is worth nothing\. Your/,
    );
  });

  it("takes a signature that ends with 0 or 1, which tokens do not take", async () => {
    const { private_key: key } = sandbox.description.buyer.evm;
    const wallet = createFakeWallet({ key, chainId: 8453, countsFromZero: true });
    const page = await visit(`${counter.url}/docs/roll`, DESKTOP, wallet.into);
    await page.locator("#roll button[type=submit]").click();
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    await page.locator("#roll .answer h3", { hasText: /^(?:200 OK|402: the payment)/ }).waitFor();
    expect(await page.locator("#roll .answer").innerText()).to.match(/^200 OK/);
  });

  for (const hours of [-1, 24])
    it(`takes a payment from a machine whose clock is wrong by ${hours} h`, async () => {
      const wallet = createFakeWallet({ key: sandbox.description.buyer.evm.private_key, chainId: 8453 });
      const page = await visit(`${counter.url}/docs/roll`, DESKTOP, async (made) => {
        await wallet.into(made);
        await made.addInitScript(`const { now } = Date; Date.now = () => now() + ${hours} * 3_600_000;`);
      });
      await page.locator("#roll button[type=submit]").click();
      await page.getByRole("button", { name: "Pay with browser wallet" }).click();
      await page.locator("#roll").getByRole("heading", { name: "200 OK" }).waitFor();
    });
});
