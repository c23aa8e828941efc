import { expect } from "chai";
import type { Page } from "playwright-core";
import { withBrowser } from "../../../support/programs.ts";
import { openVisits, PHONE } from "./support/browser.ts";
import { findFaint } from "./support/contrast.ts";
import { type Counter, sharedCounter } from "./support/counter.ts";

const TOUCHABLE = 40;

/** The tag of the element with the focus, and its id or text. */
const FOCUSED = "((at) => at.tagName + ' ' + (at.id || at.textContent.trim()))(document.activeElement)";

withBrowser.describe("the pages", () => {
  const visit = openVisits();
  let counter: Counter;

  before(async () => {
    counter = await sharedCounter(true);
  });

  const focused = (page: Page): Promise<string> => page.evaluate<string>(FOCUSED);

  async function tabTo(page: Page, wanted: string): Promise<void> {
    for (let presses = 0; presses < 80; presses += 1) {
      if ((await focused(page)) === wanted) return;
      await page.keyboard.press("Tab");
    }
    expect.fail(`the Tab key does not lead to ${wanted}`);
  }

  /** Opens the roll and asks for it, so that there is as much to see as can be. */
  async function askForRoll(page: Page): Promise<void> {
    await page.locator("#roll button[type=submit]").click();
    await page.locator("#roll .offers").waitFor();
  }

  it("can be used by the keyboard alone, from the filter to the result", async () => {
    const page = await visit(`${counter.url}/docs`);
    await page.keyboard.press("Tab");
    expect(await focused(page)).to.equal("A Skip to the content");
    await tabTo(page, "INPUT _filter");
    await page.keyboard.type("signed random");
    await page.keyboard.press("Tab");
    expect(await focused(page), "the only service that is left").to.equal("A Signed random roll");
    await page.keyboard.press("Enter");
    await page.waitForURL(`${counter.url}/docs/roll`);
    await tabTo(page, "INPUT _roll-field-low");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("2");
    await tabTo(page, "INPUT _roll-field-high");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("2");
    await page.keyboard.press("Control+Enter");
    await page.locator("#roll .offers").waitFor();
    await tabTo(page, "INPUT _roll-offer-0");
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).to.equal("INPUT _roll-offer-1");
    await tabTo(page, "BUTTON Pay with play money");
    await page.keyboard.press("Enter");
    await page.locator("#roll").getByRole("heading", { name: "200 OK" }).waitFor();
    expect(await page.locator("#roll .receipt").innerText()).to.include("USDC on Solana");
    expect(await focused(page), "the button that paid is gone").to.equal("BUTTON See the price");
    await page.keyboard.press("Enter");
    await page.locator("#roll .offers").waitFor();
    expect(await focused(page), "the button that was pressed").to.equal("BUTTON See the price");
  });

  it("show where the focus is", async () => {
    const page = await visit(`${counter.url}/docs`);
    for (let presses = 0; presses < 8; presses += 1) {
      await page.keyboard.press("Tab");
      const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
      expect(outline, await focused(page)).to.equal("solid");
    }
  });

  for (const path of ["/", "/docs/roll"]) {
    it(`fit a phone's width, with texts of any size, and have buttons that a finger hits: ${path}`, async () => {
      const page = await visit(counter.url + path, PHONE);
      if (path !== "/") await askForRoll(page);
      for (const target of await page.locator("#roll button:visible:not(.copy), #roll .raw > summary").all()) {
        const box = await target.boundingBox();
        expect(box?.height, await target.innerText()).to.be.at.least(TOUCHABLE);
      }
      for (const size of ["100%", "200%"]) {
        await page.evaluate(`document.documentElement.style.fontSize = "${size}"`);
        const [content, screen] = await page.evaluate<[number, number]>(
          "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
        );
        expect(content, size).to.be.at.most(screen);
      }
    });

    it(`have texts that can be read, in the light and in the dark: ${path}`, async () => {
      const page = await visit(counter.url + path);
      if (path !== "/") await askForRoll(page);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await findFaint(page), colorScheme).to.deep.equal([]);
      }
    });
  }

  it("show every table of a service whole, beside its code, on the narrowest screen for both and a wider one", async () => {
    const page = await visit(`${counter.url}/robots.txt`);
    for (const id of ["ledger_report", "investigate"]) {
      await page.goto(`${counter.url}/docs/${id}`);
      for (const width of [1201, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        const cut = "[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth - one.clientWidth)";
        expect(await page.evaluate(cut), `${id} at ${width}`).to.deep.equal([0, 0]);
      }
    }
  });

  it("have one title each, a language, and landmarks", async () => {
    const page = await visit(counter.url);
    for (const path of ["/", "/docs", "/docs/roll"]) {
      await page.goto(counter.url + path);
      expect(await page.locator("h1").count()).to.equal(1);
      expect(await page.locator("html").getAttribute("lang")).to.equal("en");
      for (const role of ["banner", "main"] as const)
        expect(await page.getByRole(role).count(), `${role} of ${path}`).to.equal(1);
      const names = await page.getByRole("navigation").evaluateAll((navs) => navs.map((nav) => nav.ariaLabel));
      const regions = await page.locator(".scroll").evaluateAll((all) => all.map((one) => one.ariaLabel));
      expect(regions).to.deep.equal(path.endsWith("roll") ? ["Takes", "Gives"] : []);
      expect(names).to.deep.equal(path === "/" ? ["Site"] : ["Site", "Services"]);
    }
  });
});
