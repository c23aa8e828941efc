import { expect } from "chai";
import type { Page, Route } from "playwright-core";
import { eventually } from "../../../support/eventually.ts";
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

withBrowser.describe("the explorer, whose answers are lost, or are a gateway's", () => {
  const visit = openVisits();
  let counter: Counter;
  let page: Page;

  before(async () => {
    counter = await sharedCounter(true);
  });
  beforeEach(async () => {
    page = await visit(`${counter.url}/docs/roll`);
  });

  async function send(input: string): Promise<void> {
    await page.locator(".raw").evaluate((raw: { open?: boolean }) => {
      raw.open = true;
    });
    await page.locator("textarea.input").fill(input);
    await page.getByRole("button", { name: "See the price" }).click();
  }

  it("keeps a payment without an answer beside a new one, until both are answered", async () => {
    const pay = page.getByRole("button", { name: "Pay with play money" });
    const again = page.getByRole("button", { name: "Ask again with the same payment" });
    const sent: (string | undefined)[] = [];
    await page.route("**/v1/roll", async (route) => {
      const payment = route.request().headers()["payment-signature"];
      if (payment === undefined) return route.continue();
      sent.push(payment);
      await route.fetch(); // The seller answers, and nobody hears it.
      await route.abort();
    });
    await send('{"low": 3, "high": 3}');
    await pay.click();
    await again.waitFor();
    await send('{"low": 4, "high": 4}');
    await pay.waitFor();
    expect(await again.count(), "beside the new price").to.equal(1);
    await pay.click();
    await eventually(async () => (await again.count()) === 2);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.reload();
    await page
      .getByText("An earlier payment of this page has no answer yet. It is charged once at most.")
      .first()
      .waitFor();
    expect(await page.locator(".status").innerText(), "which nobody knows").not.to.include("You have paid");
    for (const [value, left] of [
      [3, 1],
      [4, 0],
    ]) {
      await again.first().click();
      await page.locator(".answer.good", { hasText: `"result": [\n    ${value}\n  ]` }).waitFor();
      expect(await again.count(), "still without an answer").to.equal(left);
    }
    expect(new Set(sent).size, "payments").to.equal(2);
  });

  it("keeps a payment that the tab has made at the same address since the page was left", async () => {
    const again = page.getByRole("button", { name: "Ask again with the same payment" });
    const earlier = JSON.stringify([{ call: { method: "POST", url: "/v1/roll", body: "{}" }, payment: "e30=" }]);
    // What Back brings from memory: the page's scripts go on, and the storage is as a later page has left it.
    await page.evaluate(`sessionStorage.setItem("payment /docs/roll", ${JSON.stringify(earlier)})`);
    await send('{"low": 3, "high": 3}');
    await page.getByRole("button", { name: "Pay with play money" }).click();
    await page.locator(".answer.good").waitFor();
    expect(await again.count()).to.equal(1);
    await page.reload();
    expect(await again.count(), "and the one that was answered").to.equal(2);
  });

  it("asks no price while a payment is on its way, so that none is signed beside it", async () => {
    const [paid, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const asked: boolean[] = [];
    await page.route("**/v1/roll", async (route) => {
      const isPaid = "payment-signature" in route.request().headers();
      asked.push(isPaid);
      if (isPaid) {
        paid.resolve();
        await answer.promise;
      }
      await route.continue();
    });
    await send('{"low": 3, "high": 3}');
    await page.getByRole("button", { name: "Pay with play money" }).click();
    await paid.promise;
    await page.locator("textarea.input").press("Control+Enter");
    answer.resolve();
    await page.locator(".answer.good").waitFor();
    expect(asked).to.deep.equal([false, true]);
  });

  it("says that a payment may have been taken when it is refused after its answer was lost", async () => {
    const challenge = await fetch(`${counter.url}/v1/roll`, { method: "POST" });
    const headers = { "payment-required": challenge.headers.get("payment-required") ?? "" };
    let sent = 0;
    await page.route("**/v1/roll", async (route) => {
      if (!("payment-signature" in route.request().headers())) return route.continue();
      sent += 1;
      return sent === 1 ? route.abort() : route.fulfill({ status: 402, headers, json: await challenge.json() });
    });
    await send('{"low": 3, "high": 3}');
    await page.getByRole("button", { name: "Pay with play money" }).click();
    await page.getByRole("button", { name: "Ask again with the same payment" }).click();
    await page.getByRole("heading", { name: "402: the payment was not accepted" }).waitFor();
    await page.getByText("It may have been taken when it was sent before").waitFor();
  });

  it("warns of paying again no longer once the payment was paid back", async () => {
    const answers = [{}, { refund_tx: `0x${"7".repeat(64)}`, refund_pending: null }];
    await page.route("**/v1/roll", (route) => {
      if (!("payment-signature" in route.request().headers())) return route.continue();
      return route.fulfill({ status: 502, json: { code: "paid-not-delivered", detail: "Later.", ...answers.shift() } });
    });
    await send('{"low": 3, "high": 3}');
    await page.getByRole("button", { name: "Pay with play money" }).click();
    const again = page.getByRole("button", { name: "Ask again with the same payment" });
    await again.click();
    await eventually(
      async () => answers.length === 0 && (await page.getByRole("heading", { name: "502" }).count()) === 1,
    );
    await eventually(async () => (await page.getByRole("button", { name: "See the price" }).isEnabled()) === true);
    expect(await page.locator(".outcome").innerText()).not.to.include("Do not pay again");
    expect(await page.locator(".status").innerText(), "it was, at first").to.equal("The call did not succeed.");
    await page.reload();
    expect(await again.count()).to.equal(0);
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

  it("goes on after any answer of a gateway, and keeps a payment that is answered so", async () => {
    for (const [title, given] of ANSWERS) {
      await answer(given, false);
      await button("See the price").click();
      await page.locator(".answer.bad").waitFor();
      expect(await status(), title).to.equal("The call did not succeed. Nothing was charged.");
      await page.unrouteAll();
      await button("See the price").click();
      await button("Pay with play money").waitFor();
      await answer(given, true);
      await button("Pay with play money").click();
      await page.locator(".answer.bad").waitFor();
      expect(await status(), title).to.equal("The call did not succeed.");
      await page.unrouteAll();
      await button("Ask again with the same payment").click();
      await page.locator(".answer.good").waitFor();
    }
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
