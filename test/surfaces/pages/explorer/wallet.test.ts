import { expect } from "chai";
import type { Page } from "playwright-core";
import { rail, sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { withBrowser } from "../../../support/programs.ts";
import { DESKTOP, openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";
import { createFakeWallet, type FakeWalletOptions } from "./support/wallet.ts";

const BASE = 8453;
const POLYGON = 137;

withBrowser.describe("the explorer of a seller for real money", () => {
  const visit = openVisits();
  let sandbox: TestSandbox;
  let counter: Counter;

  before(async () => {
    sandbox = await sharedSandbox();
    counter = await sharedCounter(false);
  });

  async function openWith({ service = "roll", ...options }: Partial<FakeWalletOptions> & { service?: string }) {
    const wallet = createFakeWallet({ key: sandbox.description.buyer.evm.private_key, chainId: BASE, ...options });
    const page = await visit(`${counter.url}/docs/${service}`, DESKTOP, wallet.into);
    await askUnpaid(page, service);
    return { wallet, page };
  }

  async function askUnpaid(page: Page, service = "roll"): Promise<void> {
    const form = page.locator(`#${service}`);
    await form.locator(".raw > summary").click();
    await form.locator("textarea.input").fill('{"low": 4, "high": 4}');
    await form.locator("button[type=submit]").click();
    await form.locator(".offers").waitFor();
  }

  const balanceOf = (token: "usdc" | "jpyc", payTo: string): Promise<bigint> =>
    sandbox[token].balanceOf(sandbox.env[payTo] as `0x${string}`);

  it("has a browser wallet sign exactly the offer, and gets the result", async () => {
    const before = await balanceOf("usdc", "BASE_PAYMENT_ADDRESS");
    const { wallet, page } = await openWith({});
    expect(await page.locator("#roll .hint").innerText()).to.match(/real money.* not charged, or is paid back/);
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    await page.locator("#roll").getByRole("heading", { name: "200 OK" }).waitFor();
    expect(wallet.asked.map(({ method }) => method)).to.deep.equal([
      "eth_requestAccounts",
      "eth_chainId",
      "eth_signTypedData_v4",
    ]);
    const typed = JSON.parse(String(wallet.asked[2]?.params[1]));
    expect(typed.primaryType).to.equal("TransferWithAuthorization");
    expect(typed.domain).to.deep.equal({
      ...rail("base").domain,
      chainId: BASE,
      verifyingContract: rail("base").asset,
    });
    expect(typed.message).to.include({ value: "1000", to: sandbox.env.BASE_PAYMENT_ADDRESS });
    expect((await balanceOf("usdc", "BASE_PAYMENT_ADDRESS")) - before).to.equal(1000n);
    const link = page.locator("#roll .receipt a");
    expect(await link.getAttribute("href")).to.match(/^https:\/\/basescan\.org\/tx\/0x[0-9a-f]{64}$/);
  });

  it("names the token that was paid where the network has several", async () => {
    const { buyer } = sandbox.description;
    const second = JSON.stringify({
      ...rail("base"),
      title: "EURC on Base",
      symbol: "EURC",
      asset: `0x${"e".repeat(40)}`,
    });
    const wallet = createFakeWallet({ key: buyer.evm.private_key, chainId: BASE });
    const page = await visit(counter.url, DESKTOP, wallet.into);
    await page.route("**/docs/roll", async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ contentType: "text/html", body: text.replace('"rails":[', `"rails":[${second},`) });
    });
    await page.goto(`${counter.url}/docs/roll`);
    await askUnpaid(page);
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    const receipt = page.locator("#roll .receipt");
    await receipt.waitFor();
    expect(await receipt.innerText()).to.match(/Amount\s+0\.001 USDC\s+Network\s+USDC on Base/);
  });

  it("promises no money back where the page says that a job that fails is not paid back", async () => {
    const { page } = await openWith({});
    await page.evaluate(
      `document.querySelector(".amounts").insertAdjacentHTML("beforeend", '<span class="kept"></span>')`,
    );
    await page.locator("#roll button[type=submit]").click();
    await page.getByText(/real money\. Your wallet shows what you sign\.$/).waitFor();
  });

  it("echoes the header's form of the challenge, so that its payment fits the headers that proxies take", async () => {
    const { page } = await openWith({ service: "ledger_summary" });
    const sent = page.waitForRequest((request) => request.headers()["payment-signature"] !== undefined);
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    expect((await sent).headers()["payment-signature"]).to.have.length.below(4096);
  });

  it("has a browser wallet sign in, and shows it what it has bought", async () => {
    const { wallet, page } = await openWith({});
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    await page.locator("#roll").getByRole("heading", { name: "200 OK" }).waitFor();
    await page.goto(`${counter.url}/docs/purchases`);
    await page.locator("#purchases button[type=submit]").click();
    await page.getByRole("button", { name: "Sign in with browser wallet" }).click();
    await page.locator("#purchases").getByRole("heading", { name: "200 OK" }).waitFor();
    expect(await page.locator("#purchases .answer").innerText()).to.match(/"service": "roll"/);
    const text = String(wallet.asked.at(-1)?.params[0]);
    expect(Buffer.from(text.slice(2), "hex").toString()).to.match(
      new RegExp(`^${new URL(counter.url).host} wants you to sign in with your Ethereum account:\n0x`),
    );
  });

  for (const lacks of [undefined, "wallet_switchEthereumChain"])
    it(`has a browser wallet on another chain sign in on one of the seller's, ${lacks ? "which a key does where it is" : "as a contract must"}`, async () => {
      const { buyer } = sandbox.description;
      const wallet = createFakeWallet({ key: buyer.evm.private_key, chainId: 1, ...(lacks && { lacks }) });
      const page = await visit(`${counter.url}/docs/purchases`, DESKTOP, wallet.into);
      await page.locator("#purchases button[type=submit]").click();
      await page.getByRole("button", { name: "Sign in with browser wallet" }).click();
      await page.locator("#purchases").getByRole("heading", { name: "200 OK" }).waitFor();
      const asked = wallet.asked.map(({ method }) => method);
      expect(asked.slice(-2)).to.deep.equal(["wallet_switchEthereumChain", "personal_sign"]);
    });

  it("says of a sign-in that it could not be signed", async () => {
    const wallet = { key: sandbox.description.buyer.evm.private_key, chainId: BASE, lacks: "personal_sign" };
    const page = await visit(`${counter.url}/docs/purchases`, DESKTOP, createFakeWallet(wallet).into);
    await page.locator("#purchases button[type=submit]").click();
    await page.getByRole("button", { name: "Sign in with browser wallet" }).click();
    await page.getByText("The sign-in could not be signed: ").waitFor();
  });

  it("names a wallet that announces itself, and has it change the chain", async () => {
    const before = await balanceOf("jpyc", "POLYGON_PAYMENT_ADDRESS");
    const { wallet, page } = await openWith({ name: "Test Wallet" });
    await page.getByRole("radio", { name: "JPYC on Polygon" }).check();
    await page.getByRole("button", { name: "Pay with Test Wallet" }).click();
    await page.locator("#roll").getByRole("heading", { name: "200 OK" }).waitFor();
    const switched = wallet.asked.find(({ method }) => method === "wallet_switchEthereumChain");
    expect(switched?.params).to.deep.equal([{ chainId: `0x${POLYGON.toString(16)}` }]);
    expect((await balanceOf("jpyc", "POLYGON_PAYMENT_ADDRESS")) - before).to.equal(10n ** 17n);
  });

  it("offers no payment that a browser wallet cannot make", async () => {
    const { page } = await openWith({});
    expect(await page.getByRole("radio", { name: "USDC on Solana" }).isDisabled()).to.equal(true);
    expect(await page.getByRole("radio", { name: "USDC on Base" }).isChecked()).to.equal(true);
  });

  it("has no button for a wallet that can make none of the payments", async () => {
    const response = await fetch(`${counter.url}/v1/roll`, { method: "POST" });
    const challenge = (await response.json()) as { accepts: readonly { network: string }[] };
    const onSolana = {
      ...challenge,
      accepts: challenge.accepts.filter(({ network }) => network.startsWith("solana:")),
    };
    const headers = { "payment-required": Buffer.from(JSON.stringify(onSolana)).toString("base64") };
    const wallet = createFakeWallet({ key: sandbox.description.buyer.evm.private_key, chainId: BASE });
    const page = await visit(`${counter.url}/docs/roll`, DESKTOP, wallet.into);
    await page.route("**/v1/roll", (route) => route.fulfill({ status: 402, headers, json: onSolana }));
    await askUnpaid(page);
    expect(await page.locator("#roll .pay").count()).to.equal(0);
    expect(await page.locator("#roll .hint").innerText()).to.include("The code on this page pays");
  });

  it("has nothing signed for another input than the form shows by then", async () => {
    const { wallet, page } = await openWith({});
    await page.locator("#roll [data-field=high]").fill("9");
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    await page
      .getByText("The form has changed since this was asked. Nothing was signed: send the form again.")
      .waitFor();
    expect(wallet.asked).to.deep.equal([]);
    await page.getByRole("button", { name: "See the price" }).click();
    await page.locator("#roll .status", { hasText: "The seller asks for" }).waitFor();
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    const answer = page.locator("#roll .answer.good");
    await answer.waitFor();
    expect(await answer.innerText()).to.match(/"range": \[\s+4,\s+9\s+\]/);
  });

  it("takes a no for a no", async () => {
    const before = await balanceOf("usdc", "BASE_PAYMENT_ADDRESS");
    const { page } = await openWith({
      fails: { method: "eth_signTypedData_v4", error: { code: 4001, message: "No" } },
    });
    await page.getByRole("button", { name: "Pay with browser wallet" }).click();
    await page.getByText("You declined in the wallet. Nothing was paid.").waitFor();
    expect(await page.getByRole("button", { name: "Pay with browser wallet" }).isEnabled()).to.equal(true);
    expect(await balanceOf("usdc", "BASE_PAYMENT_ADDRESS")).to.equal(before);
  });

  it("tells why a wallet does not sign, whatever it throws", async () => {
    const { page } = await openWith({});
    const key = sandbox.description.buyer.evm.private_key;
    for (const [error, said] of [
      [
        { code: 4902, message: "Unrecognized chain ID" },
        "The wallet does not know the network that this is paid on: add",
      ],
      [{ code: -32002, message: "Already pending" }, "The payment could not be signed: Already pending. Nothing was"],
      [{ code: -32603, data: { originalError: { code: 4902 } } }, "The wallet does not know the network that this is"],
      [{ code: -32603, data: null }, "The payment could not be signed: the wallet does not say why. Nothing was paid."],
      ["locked!", "The payment could not be signed: locked! Nothing was paid."],
    ] as const) {
      createFakeWallet({ key, chainId: 1, fails: { method: "wallet_switchEthereumChain", error } });
      await page.getByRole("button", { name: "Pay with browser wallet" }).click();
      await page.getByText(said).waitFor();
      expect(await page.getByRole("button", { name: "Pay with browser wallet" }).isEnabled()).to.equal(true);
    }
  });

  it("points to the snippets where there is no wallet", async () => {
    const page = await visit(`${counter.url}/docs/roll`);
    await askUnpaid(page);
    expect(await page.locator("#roll .hint").innerText()).to.include("No browser wallet that can pay was found.");
    expect(await page.locator("#roll .offers input:not(:disabled)").count()).to.equal(0);
    expect(await page.locator("#roll .pay").count()).to.equal(0);
  });

  it("says how to sign in where there is no wallet: by the command for what this shop has sold, elsewhere by a client", async () => {
    const page = await visit(`${counter.url}/docs/purchases`);
    const ask = () => page.locator("#purchases button[type=submit]").click();
    await ask();
    expect(await page.locator("#purchases .hint code").innerText()).to.equal(
      `npx payphone purchases --url ${counter.url}`,
    );
    await page.route("**/v1/own*", async (route) => {
      await route.fulfill({ response: await route.fetch({ url: `${counter.url}/v1/purchases` }) });
    });
    await page.locator("#purchases form").evaluate((form) => form.setAttribute("data-path", "/v1/own"));
    await ask();
    await page.getByText("No browser wallet was found: sign in by an x402 client that knows sign-in-with-x.").waitFor();
  });

  it("lends nobody any keys, and signs for nobody", async () => {
    expect((await fetch(`${counter.url}/sandbox`)).status).to.equal(404);
    expect((await fetch(`${counter.url}/sandbox/pay`, { method: "POST" })).status).to.equal(404);
    expect(await (await fetch(`${counter.url}/docs`)).text()).not.to.include("Sandbox");
  });
});
