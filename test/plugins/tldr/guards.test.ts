import { expect } from "chai";
import { readHtml } from "../../../plugins/tldr/html.ts";

const read = (title: string, body: string) =>
  readHtml(`<html><head><title>${title}</title></head><body>${body}</body></html>`, "https://one.example/page");
const LONG = "The committee met on Tuesday, agreed on the budget and will present it in spring. ".repeat(8);

/** What sites answer with status 200 in place of a page. */
const GUARDS: Readonly<Record<string, readonly [title: string, body: string]>> = {
  "a check of Cloudflare": [
    "Just a moment...",
    "<h1>one.example</h1><p>one.example needs to review the security of your connection before proceeding.</p>",
  ],
  "a block of Cloudflare": [
    "Attention Required! | Cloudflare",
    "<h1>Sorry, you have been blocked</h1><p>You are unable to access one.example</p>",
  ],
  "a refusal of Akamai": ["Access Denied", "<h1>Access Denied</h1>You don't have permission to access this server."],
  "a check of hands": ["one.example", "<h1>Press & Hold to confirm you are a human (and not a bot).</h1>"],
  "a riddle": [
    "Robot Check",
    "<p>Enter the characters you see below</p><p>we need to make sure you're not a robot</p>",
  ],
  "a cookie wall": ["Before you continue", "<h1>Before you continue to Example</h1><p>We use cookies and data.</p>"],
  "a missing page": ["Page not found", "<h1>404</h1><p>The page you are looking for does not exist.</p>"],
  "a redirect of its own": ["Redirecting", '<p>Redirecting to <a href="/new">/new</a></p>'],
  "an old browser's notice": ["X", "<h1>Your browser is not supported</h1><p>Please upgrade.</p>"],
  "a closed account": ["Account Suspended", "<h1>This Account has been suspended.</h1>"],
};

describe("what a site shows in place of a page", () => {
  for (const [what, [title, body]] of Object.entries(GUARDS))
    it(`is not summarized: ${what}`, async () => {
      expect(await read(title, body)).to.include({ isGuarded: true });
    });

  it("needs scripts where it says so in short", async () => {
    const body = "<p>Please enable JS and try again</p><script>var dd = {}</script>";
    expect(await read("one.example", body)).to.include({ needsScripts: true });
  });

  it("is a page where it only speaks of such things, or is short", async () => {
    const pages = [
      ["How we fight robots", `<article><h1>Are you a robot?</h1><p>${LONG}</p></article>`],
      ["404 ways to cook rice", `<article><h1>404 ways to cook rice</h1><p>${LONG}</p></article>`],
      ["Notice", "<p>The shop is closed on Monday.</p>"],
    ] as const;
    for (const [title, body] of pages)
      expect(await read(title, body), title).to.include({ isGuarded: false, needsScripts: false });
  });
});
