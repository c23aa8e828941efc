import { expect } from "chai";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { atEnd } from "../../../../support/at-end.ts";
import { findChromium } from "../../../../support/chromium.ts";

/**
 * Nothing but what a test asks for; a sandbox of Chromium's own does not work for root. Without memory for what is drawn,
 * pages are laid out and hardly drawn, which takes most of the time otherwise.
 */
const ARGUMENTS = [
  ...(process.env.PICTURES ? [] : ["--force-gpu-mem-available-mb=1"]),
  "--no-sandbox",
  "--disable-gpu",
  "--in-process-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const DESKTOP = { viewport: { width: 1200, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** Opens an address where nothing is left of earlier visits but the browser's cache. */
export type Visit = (url: string, options?: BrowserContextOptions, prepare?: Prepare) => Promise<Page>;

/**
 * Lets the tests of a suite visit pages. A visit ends with its test; until then no script or policy may have failed on the
 * page, and nothing of another origin may have been asked for.
 */
export function openVisits(): Visit {
  const open: (() => Promise<void>)[] = [];
  const complaints: string[] = [];
  afterEach(async () => {
    for (const close of open.splice(0)) await close();
    expect(complaints.splice(0)).to.deep.equal([]);
  });
  return async (url, options = DESKTOP, prepare = PLAIN) => {
    const kept = keptFor(options, prepare);
    const page = kept.pop() ?? (await openPage(options, prepare));
    const { origin } = new URL(url);
    open.push(async () => {
      await clear(page, origin, options);
      kept.push(page);
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => isWithin(origin, request.url()) || complaints.push(request.url()));
    page.on("console", (message) => {
      // Chromium reports every answer of 400 and above; what it means is the page's business.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        complaints.push(message.text());
    });
    await page.goto(url);
    return page;
  };
}

/** What a page has made itself has a URL of its origin behind `blob:`. */
const isWithin = (origin: string, url: string): boolean => url.replace(/^blob:/, "").startsWith(`${origin}/`);

/** One real Chromium for all test files of this process, closed after the last test. @throws Error where there is none. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

let shared: Promise<Browser> | undefined;

async function launch(): Promise<Browser> {
  const found = findChromium();
  if (!found) throw new Error("No Chromium is installed: install one, or name it in CHROMIUM_BIN");
  const browser = await chromium.launch({ ...(await found.open()), args: ARGUMENTS });
  atEnd(() => browser.close());
  return browser;
}

/** What is done with a new page before the page's own scripts run, and lasts as long as the page. */
export type Prepare = (page: Page) => Promise<void>;

/** Pages that nobody uses, by how they were made. A new one takes Chromium two processes, which is more than most tests take. */
const idle = new Map<Prepare, Map<string, Page[]>>();
const PLAIN: Prepare = async () => {};

function keptFor(options: BrowserContextOptions, prepare: Prepare): Page[] {
  const key = JSON.stringify(options);
  const prepared = idle.get(prepare) ?? new Map<string, Page[]>();
  const kept = prepared.get(key) ?? [];
  idle.set(prepare, prepared.set(key, kept));
  return kept;
}

/** A page in a context of its own. */
async function openPage(options: BrowserContextOptions, prepare: Prepare): Promise<Page> {
  const browser = await sharedBrowser();
  // Where the machine has no language, Chromium reports one that is none.
  const context = await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  await prepare(page);
  return page;
}

/** Leaves the page's address, and forgets what a test has set and what the address has kept. */
async function clear(
  page: Page,
  origin: string,
  { viewport, permissions = [], colorScheme = "light" }: BrowserContextOptions,
): Promise<void> {
  const context = page.context();
  for (const event of ["pageerror", "request", "console"]) page.removeAllListeners(event as "request");
  await page.unrouteAll();
  await page.evaluate("sessionStorage.clear()");
  await page.goto("about:blank");
  if (viewport) await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme });
  const session = await context.newCDPSession(page);
  await session.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  await session.detach();
  await context.clearCookies();
  await context.clearPermissions();
  await context.grantPermissions([...permissions]);
}

/** Keeps the texts that charts draw in `drawn`, with their places in `placed`, and those cut off at the left edge in `cut`. */
export const keepDrawn = async (page: Page): Promise<void> => {
  await page.addInitScript(`globalThis.drawn = [];
    globalThis.placed = [];
    globalThis.cut = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      drawn.push(text);
      placed.push({ text, from: place[0], to: place[0] + this.measureText(text).width });
      if (this.textAlign === "right" && place[0] < this.measureText(text).width) cut.push(text);
      return fillText.call(this, text, ...place);
    };`);
};
