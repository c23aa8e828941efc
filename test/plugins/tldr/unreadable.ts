import { toJapanesePdf, toLines, toPage, toPdf, toPdfWithoutLetters } from "./documents.ts";
import type { Page } from "./site.ts";

/** Pages of which no summary is sold, each with the reason. */
export const UNREADABLE: readonly (readonly [what: string, page: Page, message: string])[] = [
  [
    "a picture",
    { body: "x", type: "image/png" },
    "What the URL leads to is image/png; HTML, PDF and text can be summarized",
  ],
  [
    "anything that is called nothing",
    { body: "x" },
    "What the URL leads to says no content type; HTML, PDF and text can be summarized",
  ],
  ["an empty page", { body: toPage(""), type: "text/html" }, "There is no text at the URL that could be summarized"],
  [
    "an application that shows nothing without scripts",
    { body: '<div id="root"></div><script src="/a.js"></script>', type: "text/html" },
    "The page shows its text only with scripts, which are not run here: send the text",
  ],
  ["a blank text", { body: " \n", type: "text/plain" }, "There is no text at the URL that could be summarized"],
  [
    "a text that nobody can see",
    { body: "<p>\u200b\u3164</p>", type: "text/html; charset=utf-8" },
    "There is no text at the URL that could be summarized",
  ],
  ["no content", { body: "", type: "text/plain", status: 204 }, "There is no text at the URL that could be summarized"],
  [
    "bytes that are called text",
    { body: "MZ\0\0", type: "text/plain" },
    "There is no text at the URL that could be summarized",
  ],
  [
    "a PDF whose font does not say which letters it has",
    { body: toPdfWithoutLetters("The tide rises and falls twice a day"), type: "application/pdf" },
    "The letters of what is at the URL cannot be read: send the text",
  ],
  [
    "a PDF whose Japanese letters only a table of Adobe's tells",
    { body: toJapanesePdf("UniJIS-UTF16-H", "予算案"), type: "application/pdf" },
    "The PDF has fonts that leave their letters to tables which are not here: send the text",
  ],
  [
    "a form of Adobe's (XFA), which is not shown",
    {
      body: toPdf([
        toLines("Please wait...", "If this message is not eventually replaced by the proper contents of the"),
      ]),
      type: "application/pdf",
    },
    "The page shows its text in a frame or a field, which is not read: send the text",
  ],
  [
    "a text in another encoding than its header says",
    { body: Buffer.from("cff0e8ebe8e220e820eef2ebe8e2", "hex"), type: "text/plain; charset=utf-8" },
    "The letters of what is at the URL cannot be read: send the text",
  ],
  [
    "a text in another script whose encoding nobody names",
    { body: Buffer.from("cff0e8ebe8e220e820eef2ebe8e2", "hex"), type: "text/plain" },
    "The letters of what is at the URL cannot be read: send the text",
  ],
  [
    "a page in another script whose encoding nobody names",
    {
      body: Buffer.from(toPage(`<p>${"\x92\xaa\x82\xcd\x88\xea\x93\xfa ".repeat(9)}</p>`), "latin1"),
      type: "text/html",
    },
    "The letters of what is at the URL cannot be read: send the text",
  ],
  [
    "a text in Big5 whose encoding nobody names",
    {
      body: Buffer.from("a6e6ac46b07cb07cb77cb371b94ca9faa67eabd7a4a4a5a1ac46a9b2c160b977bae2", "hex"),
      type: "text/plain",
    },
    "The letters of what is at the URL cannot be read: send the text",
  ],
  [
    "a text in Japanese and ASCII whose encoding nobody names",
    {
      body: Buffer.from(
        "4e6f64652e6a732032342082aa2072656c65617365642082b382ea82dc82b582bd81426e706d20696e7374616c" +
          "6c2082c58d58905682c582ab82dc82b781424150492082cc20627265616b696e67206368616e6765732082cd20524541444d452082f08e518fc68142",
        "hex",
      ),
      type: "text/plain",
    },
    "The letters of what is at the URL cannot be read: send the text",
  ],
  [
    "the cover of a scan",
    { body: toPdf([toLines("Scanned in 2019."), toLines(""), toLines("")]), type: "application/pdf" },
    "Most pages of the PDF hold no text, as those of a scan: send the text",
  ],
  [
    "the beginning of a text that is for subscribers",
    {
      body: toPage(
        `<p>${"The tide rises and falls twice a day. ".repeat(20)}</p><h2>This post is for subscribers</h2>`,
      ),
      type: "text/html",
    },
    "The site shows only the beginning of the text to those who have not subscribed: send the text",
  ],
  [
    "a broken PDF",
    { body: "%PDF-1.4", type: "application/pdf" },
    "The document is damaged or protected: it cannot be read",
  ],
];
