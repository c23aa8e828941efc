import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { findChromium } from "../../../../support/chromium.ts";

/** Nothing but what a test asks for; a sandbox of Chromium's own does not work for root. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const DESKTOP = { viewport: { width: 1200, height: 900 } };
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

/** A page with what went wrong on it. */
export interface Visit {
  readonly page: Page;
  /** Errors of scripts and policies, and requests to anywhere else. */
  readonly complaints: string[];
  close(): Promise<void>;
}

/** One real Chromium for all test files of this process, closed after the last test. @throws Error where there is none. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  return shared;
}

let shared: Promise<Browser> | undefined;

after("closes the shared browser", async () => (await shared)?.close());

async function launch(): Promise<Browser> {
  const found = findChromium();
  if (!found) throw new Error("No Chromium is installed: install one, or name it in CHROMIUM_BIN");
  return chromium.launch({ ...(await found.open()), args: ARGUMENTS });
}

/**
 * Opens an address in a context of its own.
 * @param prepare runs before the page's own scripts do.
 */
export async function visit(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = DESKTOP,
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<Visit> {
  // Where the machine has no language, Chromium reports one that is none.
  const context = await browser.newContext({ locale: "en-US", ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => request.url().startsWith(`${origin}/`) || complaints.push(request.url()));
  page.on("console", (message) => {
    // Chromium reports every answer of 400 and above; what it means is the page's business.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(message.text());
  });
  await prepare(page);
  await page.goto(url);
  return { page, complaints, close: () => context.close() };
}
