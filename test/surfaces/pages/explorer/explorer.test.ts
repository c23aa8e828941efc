import { expect } from "chai";
import type { Page } from "playwright-core";
import { sharedSandbox, type TestSandbox } from "../../../support/chains/chains.ts";
import { withBrowser } from "../../../support/programs.ts";
import { openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";

const RAILS = ["USDC on Base", "USDC on Solana", "JPYC on Polygon"];

withBrowser.describe("the explorer of a sandbox", () => {
  const visit = openVisits();
  let sandbox: TestSandbox;
  let counter: Counter;
  let page: Page;

  before(async () => {
    sandbox = await sharedSandbox();
    counter = await sharedCounter(true);
  });
  beforeEach(async () => {
    page = await visit(`${counter.url}/docs/roll`);
  });

  const service = (id: string) => page.locator(`#${id}`);
  const button = (name: string) => service("roll").getByRole("button", { name });
  const again = () => button("Ask again with the same payment");
  async function payForRoll(): Promise<void> {
    await send("roll");
    await button("Pay with play money").click();
  }
  const status = (id: string) => service(id).locator(".status");
  async function unfold(id: string): Promise<void> {
    await page.goto(`${counter.url}/docs/${id}`);
  }
  async function send(id: string, input?: string): Promise<void> {
    if (input !== undefined) await write(id, input);
    await service(id).locator("button[type=submit]").click();
  }
  /** Writes the input as JSON. */
  async function write(id: string, input: string): Promise<void> {
    await service(id)
      .locator(".raw")
      .evaluate((raw: { open?: boolean }) => {
        raw.open = true;
      });
    await service(id).locator("textarea.input").fill(input);
  }

  it("has a field for each part of the input, which is the same as the JSON", async () => {
    const json = async (): Promise<unknown> => JSON.parse(await service("roll").locator("textarea.input").inputValue());
    const field = (name: string) => service("roll").getByLabel(name, { exact: false }).first();
    expect(await field("low").inputValue()).to.equal("1");
    await field("low").fill("3");
    await field("high").fill("3");
    await field("count").fill("");
    await field("label").fill("4");
    expect(await json()).to.deep.equal({ low: 3, high: 3, label: "4" });
    await write("roll", '{"low": 5, "high": 9, "count": 2, "unknown": [1]}');
    expect(await field("high").inputValue()).to.equal("9");
    expect(await field("label").inputValue()).to.equal("");
    await field("low").fill("x");
    expect(await json()).to.deep.equal({ low: "x", high: 9, count: 2, unknown: [1] });
  });

  it("says on its button what it does", async () => {
    for (const [id, verb] of [
      ["roll", "See the price"],
      ["attest_verify", "Call it"],
      ["purchases", "Sign in"],
    ] as const) {
      await unfold(id);
      expect(await service(id).locator("button[type=submit]").innerText()).to.equal(verb);
    }
  });

  it("shows the real challenge of an unpaid call, in words and whole", async () => {
    await send("roll");
    await service("roll").getByRole("heading", { name: "402 Payment Required" }).waitFor();
    const offers = await service("roll").locator(".offers label strong").allInnerTexts();
    expect(offers).to.deep.equal(["0.001 USDC on Base", "0.001 USDC on Solana", "0.1 JPYC on Polygon"]);
    await service("roll").getByText("The whole challenge").click();
    const shown = JSON.parse(await service("roll").locator(".outcome .more pre").innerText());
    const response = await fetch(`${counter.url}/v1/roll`, { method: "POST" });
    expect(shown).to.deep.equal(await response.json());
  });

  it("pays with play money on each rail, and shows the result with its receipt", async () => {
    for (const [at, rail] of RAILS.entries()) {
      await send("roll", '{"low": 3, "high": 3, "count": 2}');
      await service("roll").locator(".offers").getByRole("radio").nth(at).check();
      await button("Pay with play money").click();
      await service("roll").getByRole("heading", { name: "200 OK" }).waitFor();
      expect(await status("roll").innerText()).to.equal("Done.");
      expect(JSON.parse(await service("roll").locator(".answer pre").innerText()).result).to.deep.equal([3, 3]);
      const receipt = await service("roll").locator(".receipt").innerText();
      expect(receipt).to.include("settled").and.include(rail);
      const { evm, solana } = sandbox.description.buyer;
      expect(receipt).to.include(at === 1 ? solana.address : evm.address);
      expect(await service("roll").locator(".receipt a").count(), "links to explorers that know nothing").to.equal(0);
    }
  });

  it("answers a free service at once", async () => {
    await unfold("attest_verify");
    await send("attest_verify");
    await service("attest_verify").getByRole("heading", { name: "200 OK" }).waitFor();
    const answer = JSON.parse(await service("attest_verify").locator(".answer pre").innerText());
    expect(answer).to.include({ valid: false, signature_valid: true });
  });

  it("says what is wrong with an input, before it is sent or after", async () => {
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
    await unfold("parse_datetime");
    for (const [input, sentence] of [
      ["{", "The input is no JSON"],
      ["[1]", "must be a JSON object"],
    ] as const) {
      await send("parse_datetime", input);
      expect(await status("parse_datetime").innerText()).to.include(sentence);
      expect(await service("parse_datetime").locator("textarea.input").getAttribute("aria-invalid")).to.equal("true");
    }
    expect(sent).to.be.empty;
    await send("parse_datetime", '{"input": "", "timezone": 5}');
    await service("parse_datetime").getByRole("button", { name: "Pay with play money" }).click();
    await service("parse_datetime").getByRole("heading", { name: "422" }).waitFor();
    expect(await service("parse_datetime").locator(".answer li").allInnerTexts()).to.deep.equal([
      "input String should have at least 1 character",
      "timezone Input should be a valid string",
    ]);
    expect(await status("parse_datetime").innerText()).to.equal("The call did not succeed. Nothing was charged.");
  });

  it("sends a field without a name, too", async () => {
    const asked = page.waitForRequest("**/v1/roll");
    await send("roll", '{"low": 1, "": 2}');
    expect((await asked).postDataJSON()).to.deep.equal({ low: 1, "": 2 });
  });

  it("puts the example that is chosen into the input", async () => {
    await service("roll").getByLabel("Example").selectOption("2");
    const input = JSON.parse(await service("roll").locator("textarea.input").inputValue());
    expect(input).to.deep.include({ low: 1, high: 1_000_000 });
  });

  it("asks again with the same payment when the connection breaks, and pays once", async () => {
    const before = await sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS as `0x${string}`);
    let cuts = 1;
    await page.route("**/v1/roll", async (route) => {
      const isPaid = "payment-signature" in route.request().headers();
      if (!isPaid || cuts === 0) return route.continue();
      cuts -= 1;
      await route.fetch(); // The seller answers, and nobody hears it.
      await route.abort();
    });
    await payForRoll();
    await again().click();
    await service("roll").getByRole("heading", { name: "200 OK" }).waitFor();
    const paid = (await sandbox.usdc.balanceOf(sandbox.env.BASE_PAYMENT_ADDRESS as `0x${string}`)) - before;
    expect(paid).to.equal(1000n);
  });

  /** Pays for a roll, and has that answered in the seller's place. @returns what the page says, and the ways to ask again */
  async function fail(status: number, json: unknown): Promise<{ text: string; retries: number }> {
    await page.route("**/v1/roll", (route) =>
      "payment-signature" in route.request().headers() ? route.fulfill({ status, json }) : route.continue(),
    );
    await payForRoll();
    await service("roll")
      .getByRole("heading", { name: String(status) })
      .waitFor();
    return { text: await service("roll").locator(".try").innerText(), retries: await again().count() };
  }

  it("says that nothing was charged when a paid call fails for good", async () => {
    for (const [status, code] of [
      [502, "upstream-failed"],
      [504, "deadline-exceeded"],
      [400, "unparseable-input"],
    ] as const) {
      const { text, retries } = await fail(status, { code });
      expect(retries, code).to.equal(0);
      expect(text, code).to.include("Nothing was charged.").and.not.to.include("Do not pay again");
      await page.unrouteAll();
    }
  });

  for (const [answer, status, json] of [
    ["a gateway says so", 502, "<html>"],
    ["it is not known whether the payment was sent", 503, { code: "settlement-unknown" }],
    ["the payment is at work", 409, { code: "payment-in-progress" }],
    ["there are too many requests", 429, { code: "rate-limited" }],
  ] as const)
    it(`says not to pay again when a paid call fails because ${answer}`, async () => {
      const { text, retries } = await fail(status, json);
      expect(retries).to.equal(1);
      expect(text).to.include("Do not pay again").and.not.to.include("Nothing was charged.");
    });

  it("does not say that nothing was charged when the price of a failed call is paid back", async () => {
    const detail = "The payment was settled, and the service failed. It is being paid back.";
    const json = { code: "paid-not-delivered", detail, refund_tx: null, refund_pending: null };
    const { retries } = await fail(502, json);
    await service("roll").getByText(detail, { exact: true }).waitFor();
    expect(await status("roll").innerText()).to.equal("The call did not succeed.");
    expect(retries).to.equal(0);
  });

  it("does not say that nothing was charged when a failure follows an answer that was lost", async () => {
    let sent = 0;
    await page.route("**/v1/roll", (route) => {
      if (!("payment-signature" in route.request().headers())) return route.continue();
      sent += 1;
      return sent === 1 ? route.abort() : route.fulfill({ status: 502, json: { code: "upstream-failed" } });
    });
    await payForRoll();
    await again().click();
    await service("roll").getByRole("heading", { name: "502" }).waitFor();
    expect(await again().count()).to.equal(1);
    expect(await service("roll").locator(".try").innerText()).not.to.include("Nothing was charged");
  });

  it("lets the same payment be sent again after the page was left amid a paid call", async () => {
    await page.route("**/v1/roll", async (route) => {
      if (!("payment-signature" in route.request().headers())) return route.continue();
      await route.fetch(); // The seller answers, and the page is left before it hears of it.
      return page.goto(`${counter.url}/docs`).then(() => undefined);
    });
    await payForRoll();
    await page.waitForURL(`${counter.url}/docs`);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.goBack();
    await again().click();
    await service("roll").getByRole("heading", { name: "200 OK" }).waitFor();
  });

  it("says why a payment was refused, offers anew, and forgets it", async () => {
    await page.route("**/sandbox/pay", async (route) => route.fulfill({ json: { payment: "e30=" } }));
    await payForRoll();
    await service("roll").getByRole("heading", { name: "402: the payment was not accepted" }).waitFor();
    expect(await service("roll").locator(".answer").innerText()).to.include("invalid_payload");
    const told = await service("roll").getByRole("status").innerText();
    expect(told, "read aloud").to.match(/^The payment was not accepted\. The seller asks for/);
    await page.reload();
    await button("See the price").waitFor();
    expect(await again().count()).to.equal(0);
  });
});
