import { createServer, type Server } from "node:http";
import { expect } from "chai";
import { loadAssets } from "../../../../runtime/cli/serve/assets.ts";
import { listenOnLoopback } from "../../../../runtime/sandbox/json-rpc.ts";
import { withBrowser } from "../../../support/programs.ts";
import { DESKTOP, openVisits, PHONE } from "../explorer/support/browser.ts";
import { findFaint } from "../explorer/support/contrast.ts";
import { CHECKSUMMED, render, toReport } from "./stage.ts";

withBrowser.describe("the page of a report, in a browser", () => {
  const visit = openVisits();
  let server: Server;
  let url: string;
  before(async () => {
    const script = (await loadAssets()).get("copy.js");
    server = createServer(({ url: path }, response) => {
      if (path !== "/") response.setHeader("content-type", "text/javascript").end(script);
      else response.setHeader("content-type", "text/html; charset=utf-8").end(render(toReport(), { baseUrl: url }));
    });
    url = await listenOnLoopback(server);
  });
  after(async () => {
    server?.close();
  });

  for (const [size, options] of Object.entries({ desktop: DESKTOP, phone: PHONE }))
    for (const colorScheme of ["light", "dark"] as const)
      it(`is no wider than a ${size}, and its texts stand out, where it is ${colorScheme}`, async () => {
        const page = await visit(url, { ...options, colorScheme });
        for (const text of ["100%", "200%"]) {
          await page.evaluate(`document.documentElement.style.fontSize = "${text}"`);
          const wider = await page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth",
          );
          expect(wider, `texts of ${text}`).to.equal(0);
        }
        await page.evaluate("document.documentElement.style.fontSize = ''");
        expect(await findFaint(page)).to.deep.equal([]);
        const [broad, narrow] = await Promise.all([".own", ".small"].map((name) => page.locator(name).isVisible()));
        expect({ broad, narrow }).to.deep.equal({ broad: size === "desktop", narrow: size === "phone" });
      });

  it("copies a whole address, of which it shows both ends", async () => {
    const permissions = ["clipboard-read", "clipboard-write"];
    const page = await visit(url, { ...DESKTOP, permissions });
    const button = page.locator("tbody .copy").first();
    await button.click();
    await page.locator("tbody .copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).to.equal(CHECKSUMMED);
    expect(await button.getAttribute("aria-label")).to.equal("Copied");
    const box = await page.locator("tbody .ref a").first().boundingBox();
    expect(box?.width).to.be.below(150);
  });

  it("is whole without JavaScript, but for the buttons", async () => {
    const page = await visit(url, { ...DESKTOP, javaScriptEnabled: false });
    expect(await page.locator(".copy").first().isVisible()).to.equal(false);
    for (const name of ["h1", ".results", ".files a", "table", ".own", ".proof"])
      expect(await page.locator(name).first().isVisible(), name).to.equal(true);
  });

  it("has whole addresses and no buttons on paper, which is white", async () => {
    const page = await visit(url, { ...DESKTOP, colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    expect(await page.locator(".copy:visible, .files:visible").count()).to.equal(0);
    const middle = await page.locator("tbody .middle").first().boundingBox();
    expect(middle?.width).to.be.above(50);
    const colorOf = (what: string) => page.evaluate(`getComputedStyle(document.body).${what}`);
    expect(await colorOf("backgroundColor")).to.equal("rgb(255, 255, 255)");
    expect(await colorOf("color")).to.equal("rgb(29, 28, 25)");
  });
});
