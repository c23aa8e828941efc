import { expect } from "chai";
import { readHtml } from "../../../plugins/tldr/html.ts";
import { ARCHETYPES } from "./archetypes.ts";

const story = "The harbour was closed on Monday after a crane collapsed on its northern pier, the authority said.";
/** Paragraphs that differ in their beginnings. */
const told = (times: number, tag = "p"): string =>
  Array.from({ length: times }, (_, at) => `<${tag}>${times}.${at}: ${story}</${tag}>`).join("");
const stories = told(9);

describe("the reader of pages", () => {
  it("is measured on 37 kinds of pages", () => {
    expect(Object.keys(ARCHETYPES)).to.have.length(37);
  });

  it("reads an index, which is a table of contents", async () => {
    const entries = Array.from({ length: 30 }, (_, at) => `<dt><a href="/${at}">Chapter ${at} of the piers</a></dt>`);
    const html = `<h1>Harbours</h1><div class="toc"><dl class="toc">${entries.join("")}</dl></div><p>Printed in 2026.</p>`;
    expect((await readHtml(html, "https://one.example/book")).text).to.include("Chapter 29 of the piers");
  });

  it("reads the prose of a page, and not what it finds around", async () => {
    const links = "<li><a>Sport and culture of the whole region</a></li>".repeat(30);
    const columns = `<div class="gutter"><div class="story">${stories}</div></div>`;
    const { text } = await readHtml(`<div><ul>${links}</ul></div>${columns}`, "https://one.example/news");
    expect(text.split(story)).to.have.length(10);
    expect(text).not.to.include("Sport");
  });

  const around: Readonly<Record<string, string>> = {
    "for readers without scripts": `<div class="post"><p>19 May</p><noscript>${stories}</noscript><p>No comments</p></div>`,
    "in a form of an article": `<article><form>${stories}</form></article><div>${"Others wrote of it, too. ".repeat(60)}</div>`,
    "in lists that are called posts": `<article>${told(5)}<ul class="postList">${told(4, "li")}</ul></article>`,
    "in parts that are called after what they follow": `<main>${told(5)}<div class="after-hero-quote">${told(4)}</div></main>`,
    "behind a column of comments": `<article>${told(5)}<table><tr><th><p>State</p></th><th><p>Comment</p></th></tr><tr><td>new</td></tr></table>${told(4)}</article>`,
  };
  for (const [where, html] of Object.entries(around))
    it(`reads a text ${where}`, async () => {
      expect((await readHtml(html, "https://one.example/page")).text.split(story)).to.have.length(10);
    });

  it("reads a text in Japanese, whose paragraphs have fewer characters", async () => {
    const told = "月曜日、北の桟橋でクレーンが倒れたため、港は閉鎖されたと、当局が発表し、原因を調べている。";
    for (const [where, html] of Object.entries(around)) {
      const { text } = await readHtml(html.replaceAll(story, told), "https://one.example/page");
      expect(text.split(told), where).to.have.length(10);
    }
  });

  it("reads a long page only once, so that it is not given up", async () => {
    const html = `${around["in lists that are called posts"]}<!--${"x".repeat(500_000)}-->`;
    expect((await readHtml(html, "https://one.example/page")).text.split(story)).to.have.length(6);
  });

  it("reads words without the readings above them", async () => {
    const html = `<p><ruby>港<rp>(</rp><rt>みなと</rt><rp>)</rp></ruby>は閉鎖された。</p>`;
    expect((await readHtml(html, "https://one.example/page")).text).to.equal("港は閉鎖された。");
  });

  for (const [name, { html, has, lacks = [], needsScripts = false }] of Object.entries(ARCHETYPES))
    it(`reads ${name}`, async () => {
      const read = await readHtml(html, "https://one.example/page");
      expect(read.needsScripts, "needs scripts").to.equal(needsScripts);
      const text = read.text.replaceAll(/\s+/g, " ");
      for (const wanted of has) expect(text).to.include(wanted.replaceAll(/\s+/g, " "));
      for (const unwanted of lacks) expect(text).not.to.include(unwanted);
    });
});
