import { expect } from "chai";
import type { Page } from "playwright-core";
import { TOSS } from "../../../core/set/served-directory.ts";
import { eventually } from "../../../support/eventually.ts";
import { withBrowser } from "../../../support/programs.ts";
import { openOperatedShop } from "../../../support/sellers/operator.ts";
import { DESKTOP, openVisits } from "./support/browser.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";

withBrowser.describe("the pages of the explorer", () => {
  const visit = openVisits();
  let counter: Counter;
  let page: Page;

  before(async () => {
    counter = await sharedCounter(true);
  });
  beforeEach(async () => {
    page = await visit(`${counter.url}/robots.txt`); // A light page of this origin: each test goes on from here.
  });

  const roll = () => page.locator("#roll");
  const unfold = (id: string) => page.goto(`${counter.url}/docs/${id}`);

  it("lists every service with its price and one line, by group", async () => {
    await page.goto(`${counter.url}/docs`);
    expect(await page.locator("h1").innerText()).to.equal("Services");
    expect(await page.locator("h2").allInnerTexts()).to.include.members(["Anchoring", "Utilities"]);
    const lines = await page.locator("main .entry").allInnerTexts();
    expect(lines).to.have.length(counter.services);
    expect(lines.find((line) => line.includes("/v1/roll"))).to.include("$0.001");
    expect(lines.find((line) => line.includes("/v1/attest/verify"))).to.include("free");
    const isLonger = "(all) => all.filter((p) => p.offsetHeight > 1.5 * parseFloat(getComputedStyle(p).lineHeight))";
    const longer = `(${isLonger})([...document.querySelectorAll("main .entry .title ~ p")]).map((p) => p.innerText)`;
    expect(await page.evaluate(longer)).to.deep.equal([]);
  });

  it("has a page for each service, with fields, an example, code, and all services beside it", async () => {
    await page.goto(`${counter.url}/docs`);
    await page.getByRole("main").getByRole("link", { name: "Signed random roll" }).click();
    await page.waitForURL(`${counter.url}/docs/roll`);
    expect(await page.title()).to.match(/^Signed random roll · /);
    const text = await roll().innerText();
    for (const part of [
      "low",
      "required",
      "1 to 100",
      "An example of an answer",
      "curl",
      "fetch",
      "Python",
      "MCP",
      "CLI",
    ])
      expect(text, part).to.include(part);
    expect(text).to.include("A call costs 0.001 USDC on Base, or 0.001 USDC on Solana, or 0.1 JPYC on Polygon.");
    const beside = page.getByRole("navigation", { name: "Services" });
    expect(await beside.getByRole("link").count()).to.equal(counter.services);
    expect(await beside.locator("[aria-current=page]").innerText()).to.equal("Signed random roll");
    const size = page.viewportSize();
    await page.setViewportSize({ width: 1200, height: 400 });
    await page.reload();
    const current = 'document.querySelector(".side [aria-current]").getBoundingClientRect()';
    await eventually(() => page.evaluate(`${current}.top >= 0 && ${current}.bottom <= innerHeight`));
    if (size) await page.setViewportSize(size);
    await beside.getByRole("link", { name: "Decision attestation" }).click();
    await page.waitForURL(`${counter.url}/docs/attest`);
  });

  it("tells where its code pays for play money that a real key would sign for real money, and nowhere else", async () => {
    const warning = "Use no key of your own here";
    for (const [id, count] of [
      ["roll", 1],
      ["attest_verify", 0],
    ] as const) {
      await unfold(id);
      expect(await page.locator(".codes", { hasText: warning }).count(), id).to.equal(count);
    }
    const real = await sharedCounter(false);
    expect(await (await fetch(`${real.url}/docs/roll`)).text()).not.to.include(warning);
  });

  it("leads old addresses to the service's page", async () => {
    await page.goto(`${counter.url}/docs`);
    await page.goto(`${counter.url}/docs#attest`);
    await page.waitForURL(`${counter.url}/docs/attest`);
    await page.goto(`${counter.url}/docs#%`);
    await page.goto(`${counter.url}/docs#nothing`);
    expect(await page.locator("h1").innerText()).to.equal("Services");
  });

  for (const path of ["/docs", "/docs/roll"])
    it(`finds services by every word, and says how many, or that there are none: ${path}`, async () => {
      await page.goto(counter.url + path);
      const filter = page.getByLabel("Find a service");
      const count = page.locator("output");
      const entry = (id: string) => page.locator(`.entry:has(a[href="/docs/${id}"])`).first();
      expect(await count.innerText()).to.equal(`${counter.services} services`);
      await filter.fill("Signed RANDOM");
      expect(await count.innerText()).to.equal(`1 of ${counter.services} services`);
      expect(await entry("roll").isVisible()).to.equal(true);
      expect(await entry("anchor").isVisible()).to.equal(false);
      expect(await page.getByText("Anchoring", { exact: true }).first().isVisible()).to.equal(false);
      await filter.fill("nothing like it");
      expect(await count.innerText()).to.equal("Nothing was found for “nothing like it”. Try fewer or other words.");
      await filter.fill("");
      expect(await entry("anchor").isVisible()).to.equal(true);
    });

  it("counts one service as one", async () => {
    const shop = await openOperatedShop(TOSS);
    const other = await visit(`${shop.running.url}/docs`);
    expect(await other.locator("output").innerText()).to.equal("1 service");
    await shop.close();
  });

  it("shows code in one language at a time, and remembers which", async () => {
    await unfold("roll");
    const code = () => page.locator(".code:visible").innerText();
    expect(await code()).to.include("curl -i -X POST");
    await roll().getByText("Python", { exact: true }).click();
    expect(await code())
      .to.include("x402_requests")
      .and.include('json={"low": 1, "high": 6');
    await unfold("attest");
    expect(await code()).to.include("x402_requests");
    await unfold("attest_verify");
    expect(await code(), "a free service needs no client that pays").to.include("curl -i -X POST");
  });

  it("copies a snippet", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await unfold("roll");
    await roll().getByText("MCP", { exact: true }).click();
    const snippet = roll().locator(".code:visible");
    await snippet.getByRole("button", { name: "Copy" }).click();
    await snippet.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    expect(JSON.parse(String(copied)).mcpServers.payphone.url).to.equal(`${counter.url}/mcp`);
  });

  it("selects a snippet that the browser refuses to copy, and says so", async () => {
    await unfold("roll");
    await page.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'))");
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Not copied: it is selected" }).waitFor();
    expect(await page.evaluate("String(getSelection())")).to.match(/^curl -i -X POST/);
  });

  it("marks the language that is shown alone where the reader sets the colours", async () => {
    await unfold("roll");
    await page.emulateMedia({ forcedColors: "active" });
    const lines = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.tab')].map((tab) => getComputedStyle(tab).borderBottomColor)",
    );
    await page.emulateMedia({ forcedColors: "none" });
    expect(lines.filter((line) => line === lines[0])).to.deep.equal([lines[0]]);
  });

  it("is printed with the whole of each example and answer", async () => {
    await unfold("roll");
    const countCut = (): Promise<unknown> =>
      page.evaluate(`[...document.querySelectorAll("pre")].filter((one) =>
        one.scrollHeight > one.clientHeight || one.scrollWidth > one.clientWidth).length`);
    expect(await countCut(), "on the screen they are scrolled").to.be.above(0);
    await page.emulateMedia({ media: "print" });
    expect(await countCut()).to.equal(0);
    await page.setViewportSize({ width: 1300, height: 900 });
    const hidden = "document.querySelector('.codes').scrollHeight - document.querySelector('.codes').clientHeight";
    expect(await page.evaluate(hidden), "of the code, on a wide paper").to.equal(0);
    await page.emulateMedia({ media: null });
  });

  it("can be read without JavaScript", async () => {
    const still = await visit(`${counter.url}/docs`, { ...DESKTOP, javaScriptEnabled: false });
    await still.getByRole("main").getByRole("link", { name: "Signed random roll" }).click();
    expect(await still.locator("#roll").innerText()).to.include("The lowest integer that can be drawn.");
    await still.getByText("CLI", { exact: true }).click();
    expect(await still.locator(".code:visible").innerText()).to.include("npx payphone call roll");
    expect(await still.locator("#roll form").isVisible()).to.equal(false);
    expect(await still.locator("noscript, .notice").first().innerText()).to.include("Without JavaScript");
  });
});
