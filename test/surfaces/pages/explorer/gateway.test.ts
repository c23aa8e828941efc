import { expect } from "chai";
import type { Page, Route } from "playwright-core";
import { withBrowser } from "../../../support/programs.ts";
import { openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";

type Answer = NonNullable<Parameters<Route["fulfill"]>[0]>;

const PAGE = { contentType: "text/html", body: "<h1>No</h1>" };
const NO_CHALLENGE = { "payment-required": "e30=" };
/** What no seller answers to a payment. */
const ANSWERS: readonly (readonly [string, Answer])[] = [
  ["a 422 that is a page", { ...PAGE, status: 422 }],
  ["a 422 without faults", { status: 422, json: { detail: "No." } }],
  ["a 422 of other faults", { status: 422, json: { detail: [null, { msg: "No." }] } }],
  ["a 402 that is a page", { ...PAGE, status: 402 }],
  ["a 402 without offers", { status: 402, headers: NO_CHALLENGE, body: "" }],
  ["a 403 that is a page", { ...PAGE, status: 403 }],
  ["a 202", { status: 202, json: {} }],
  ["a 204", { status: 204 }],
];

withBrowser.describe("the explorer behind a gateway that answers by itself", () => {
  const visit = openVisits();
  let counter: Counter;
  let page: Page;

  before(async () => {
    counter = await sharedCounter(true);
  });
  beforeEach(async () => {
    page = await visit(`${counter.url}/docs/roll`);
  });

  const button = (name: string) => page.getByRole("button", { name });
  const status = (): Promise<string> => page.locator(".status").innerText();

  /** Answers paid requests, or those without a payment, in the place of the seller. */
  async function answer(given: Answer, isPaid: boolean): Promise<void> {
    await page.route("**/v1/roll", async (route) => {
      const hasPayment = "payment-signature" in route.request().headers();
      return hasPayment === isPaid ? route.fulfill(given) : route.continue();
    });
  }

  for (const [title, given] of ANSWERS)
    it(`goes on after ${title}, and keeps a payment that is answered with it`, async () => {
      await answer(given, false);
      await button("See the price").click();
      await page.locator(".answer.bad").waitFor();
      expect(await status()).to.equal("The call did not succeed. Nothing was charged.");
      await page.unrouteAll();
      await button("See the price").click();
      await button("Pay with play money").waitFor();
      await answer(given, true);
      await button("Pay with play money").click();
      await page.locator(".answer.bad").waitFor();
      expect(await status()).to.equal("The call did not succeed.");
      await page.unrouteAll();
      await button("Ask again with the same payment").click();
      await page.locator(".answer.good").waitFor();
    });

  it("shows a result whose receipt is broken", async () => {
    await answer({ status: 200, headers: { "payment-response": "%" }, json: { result: [4] } }, true);
    await button("See the price").click();
    await button("Pay with play money").click();
    await page.locator(".answer.good", { hasText: '"result"' }).waitFor();
  });

  it("says in a gateway's own words why it refuses", async () => {
    await answer({ status: 403, json: { title: "Not from here", detail: { rule: 7 } } }, false);
    await button("See the price").click();
    await page.locator(".answer.bad p", { hasText: "Not from here" }).waitFor();
  });
});
