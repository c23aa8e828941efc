import { expect } from "chai";
import { generatePrivateKey } from "viem/accounts";
import { withBrowser } from "../../../support/programs.ts";
import { DESKTOP, openVisits, PHONE } from "./support/browser.ts";
import { type Counter, openCounter } from "./support/counter.ts";
import { createFakeWallet } from "./support/wallet.ts";

withBrowser.describe("the explorer of a service with free calls", () => {
  const visit = openVisits();
  let counter: Counter;

  before(async () => {
    counter = await openCounter(false, { calls: 1, per: "day" });
  });
  after(() => counter?.close());

  it("lets a wallet use them, and pay when they are used", async () => {
    const wallet = createFakeWallet({ key: generatePrivateKey(), chainId: 8453 });
    const page = await visit(`${counter.url}/docs/roll`, DESKTOP, wallet.into);
    const useFree = page.getByRole("button", { name: "Use a free call with browser wallet" });
    await page.getByRole("button", { name: "See the price" }).click();
    await useFree.click();
    await page.getByRole("heading", { name: "200 OK" }).waitFor();
    expect(wallet.asked.map(({ method }) => method))
      .to.include("personal_sign")
      .and.not.include("eth_signTypedData_v4");
    await page.getByRole("button", { name: "See the price" }).click();
    await useFree.click();
    await page.getByText("The seller says: free_calls_used: the free call of this wallet is used").waitFor();
    expect(await page.getByRole("heading", { name: "402 Payment Required" }).count()).to.equal(1);
    expect(await page.getByRole("button", { name: "Pay with browser wallet" }).count()).to.equal(1);
  });

  it("keeps the button that pays apart from the one that does not, on a phone", async () => {
    const wallet = createFakeWallet({ key: generatePrivateKey(), chainId: 8453 });
    const page = await visit(`${counter.url}/docs/roll`, PHONE, wallet.into);
    await page.getByRole("button", { name: "See the price" }).click();
    const [free, paid] = [/^Use a free call/, /^Pay with/].map((name) => page.getByRole("button", { name }));
    const [above, below] = [await free!.boundingBox(), await paid!.boundingBox()];
    expect(below!.y - (above!.y + above!.height)).to.be.at.least(8);
  });
});
