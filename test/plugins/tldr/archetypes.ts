/** A kind of page: what its text must have, and what it must lack. */
export interface Archetype {
  readonly html: string;
  readonly has: readonly string[];
  readonly lacks?: readonly string[];
  readonly needsScripts?: boolean;
  readonly url?: string;
}

const P1 = "The harbour was closed on Monday after a crane collapsed on the northern pier, the port authority said.";
const P2 = "Nobody was hurt, and engineers expect the pier to open again within three weeks, at a cost of two million.";
const P3 = "Ships are sent to Harwick and Long Bay until then; the ferry to the islands keeps its timetable.";
const STORY = [P1, P2, P3].map((text) => `<p>${text}</p>`).join("\n");
const WHOLE = [P1, P2, P3];
const NAV = `<nav><ul><li><a href="/">Front page</a></li><li><a href="/sport">Sport section</a></li></ul></nav>`;
const FOOT = `<footer><p>All rights reserved by the Example Group</p><a href="/imprint">Imprint</a></footer>`;
const CHROME = ["Sport section", "All rights reserved"];

const page = (body: string, head = "<title>Pier closed after crane collapse</title>"): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8">${head}</head><body>${body}</body></html>`;

export const ARCHETYPES: Readonly<Record<string, Archetype>> = {
  "a news story": {
    html: page(
      `${NAV}<main><article><header><h1>Pier closed</h1><p>The mayor has asked for help.</p></header>${STORY}</article></main>${FOOT}`,
    ),
    has: ["The mayor has asked for help", ...WHOLE],
    lacks: CHROME,
  },
  "a news story with a byline, a share bar and related links": {
    html: page(`${NAV}<article><h1>Pier closed</h1><div class="byline">By Ann Example</div>
      <div class="share-buttons"><a href="#">Share on Facebook</a><a href="#">Tweet this</a></div>${STORY}
      <section class="related-articles"><h3>More on this</h3><ul><li><a href="/1">Crane firm fined</a></li><li><a href="/2">Ferry delayed</a></li></ul></section></article>${FOOT}`),
    has: WHOLE,
    lacks: [...CHROME, "Tweet this", "Crane firm fined"],
  },
  "a story in divs without any semantic tag": {
    html: page(
      `<div id="header"><a href="/">Front page</a></div><div id="content">${STORY.replaceAll("<p>", '<div class="p">').replaceAll("</p>", "</div>")}</div><div id="footer">All rights reserved</div>`,
    ),
    has: WHOLE,
  },
  "a story that stands in a form with the whole page, beside a notice": {
    html: page(
      `<form id="aspnetForm"><input type="hidden" name="__VIEWSTATE" value="a"><table><tr><td>${STORY.repeat(2)}</td></tr></table></form><div><p>We use cookies to improve your experience.</p></div>`,
    ),
    has: WHOLE,
  },
  "a story with a cookie banner": {
    html: page(
      `<div class="cookie-banner" role="dialog"><p>We use cookies to improve your experience. Accept all?</p><button>Accept</button></div><main><article>${STORY}</article></main>`,
    ),
    has: WHOLE,
    lacks: ["We use cookies"],
  },
  "a story with comments below": {
    html: page(
      `<article><h1>Pier closed</h1>${STORY}</article><div id="comments" class="comments"><h2>Comments</h2>${`<article class="comment-body"><p>First! What a mess this port is, says user1.</p></article>`.repeat(20)}</div>`,
    ),
    has: WHOLE,
    lacks: ["First! What a mess"],
  },
  "a story with powers, fractions, footnotes and corrections": {
    html: page(
      `<article><h1>Pier closed</h1>${STORY}<p>The pier holds 10<sup>6</sup> tons, has 400 m<sup>2</sup>, is 3<sup>1</sup>/<sub>2</sub> m wide, rises by <math><mfrac><mn>3</mn><mn>4</mn></mfrac></math> m, and was built in 1998<sup>1</sup>. A ticket costs <del>100</del> <s>90</s> 80 dollars.</p></article>`,
    ),
    has: [...WHOLE, "10^6 tons", "3 1/2 m", "3/4 m", "1998^1.", "costs 80 dollars"],
  },
  "a blog post with code": {
    html: page(
      `<article><h1>Retrying</h1><p>Retries need a limit, or a failing server is buried by its own clients at the worst time.</p><pre><code>for (let i = 0; i &lt; 3; i++)\n  await send();</code></pre><p>Three attempts with growing pauses are enough for nearly all uses.</p></article>`,
    ),
    has: ["for (let i = 0; i < 3; i++)", "Three attempts"],
  },
  "documentation with a side bar": {
    html: page(
      `<div class="sidebar"><ul><li><a href="/a">Getting started</a></li><li><a href="/b">Configuration keys</a></li></ul></div><main><h1>Timeouts</h1><p>Every request has a deadline of thirty seconds, and the server answers 504 when it has passed.</p><h2>Changing it</h2><p>Set deadline_seconds in the manifest of the service, between one and six hundred.</p></main>`,
    ),
    has: ["deadline of thirty seconds", "deadline_seconds"],
    lacks: ["Configuration keys"],
  },
  "a table of figures": {
    html: page(
      `<main><h1>Rainfall</h1><p>The rainfall of the three stations in the past year, in millimetres.</p><table><tr><th>Station</th><th>Rain</th></tr><tr><td>Harwick</td><td>812</td></tr><tr><td>Long Bay</td><td>640</td></tr><tr><td></td><td>1452</td></tr></table></main>`,
    ),
    has: ["Harwick | 812", "Long Bay | 640", "640 | 1452"],
  },
  "a recipe with lists": {
    html: page(
      `<article><h1>Flat bread</h1><p>A bread for the pan that needs neither yeast nor an oven.</p><h2>Ingredients</h2><ul><li>300 g flour</li><li>180 ml water</li></ul><h2>Steps</h2><ol><li>Knead the dough for five minutes.</li><li>Bake each side for two minutes.</li></ol></article>`,
    ),
    has: ["300 g flour", "Bake each side"],
  },
  "a question with answers": {
    html: page(
      `<main><div class="question"><h1>Why is my port closed?</h1><div class="post-body"><p>My firewall seems to drop the packets, but only from outside of the network.</p></div></div><div class="answer"><div class="post-body"><p>Check whether the provider blocks the port; many block 25 and 445 on home lines.</p></div></div></main>`,
    ),
    has: ["drop the packets", "many block 25"],
  },
  "a thread without a main element, whose posts are articles": {
    html: page(
      `${NAV}<div id="posts">${WHOLE.map((text, at) => `<article class="message"><h4>Sailor ${at}</h4><article class="body"><p>${text} 10<sup>6</sup></p></article></article>`).join("")}</div>${FOOT}`,
    ),
    has: WHOLE.map((text, at) => `Sailor ${at} ${text} 10^6`),
    lacks: CHROME,
  },
  "a thread of a forum in divs": {
    html: page(
      `<h2>Piers</h2>${WHOLE.map((text, at) => `<div id="p${at}" class="post bg${at % 2}"><dl class="profile"><dt>Sailor ${at}</dt></dl><div class="content">${text}</div></div>`).join("")}${FOOT}`,
    ),
    has: WHOLE,
    lacks: CHROME,
  },
  "a story above teasers that are posts": {
    html: page(
      `<div class="entry-content">${STORY}</div>${"<div class=post><h3>Crane</h3><p>A teaser about the crane that fell, and of what became of it later.</p></div>".repeat(12)}`,
    ),
    has: WHOLE,
    lacks: ["A teaser"],
  },
  "a product page": {
    html: page(
      `${NAV}<main><h1>Lamp Oslo</h1><p class="price">49 euro</p><div class="description"><p>A lamp of oak and linen for reading corners, with a dimmer in its cable and a warm light.</p></div></main>${FOOT}`,
    ),
    has: ["A lamp of oak"],
    lacks: CHROME,
  },
  "an encyclopedia article with references": {
    html: page(
      `<div id="mw-navigation"><a href="/">Main page</a></div><div id="content" class="mw-body"><h1 id="firstHeading">Harwick</h1><div id="mw-content-text"><div class="mw-parser-output"><p><b>Harwick</b> is a port in the north with 40,000 people and a ferry to the islands.<sup class="reference"><a href="#cite">[1]</a></sup></p><p>The town was founded in 1302 around a monastery that burned down in 1644.</p></div></div></div>`,
    ),
    has: ["a port in the north", "founded in 1302"],
    lacks: ["Main page"],
  },
  "a legal text with numbered paragraphs": {
    html: page(
      `<main><h1>Terms</h1><section><h2>1. Scope</h2><p>These terms hold for all purchases in the shop of the company and for nobody else.</p></section><section><h2>2. Payment</h2><p>Payment is due within fourteen days of the invoice unless something else was agreed.</p></section></main>`,
    ),
    has: ["1. Scope", "fourteen days"],
  },
  "a press release in one long paragraph": {
    html: page(`<div class="content"><p>${WHOLE.join(" ")}</p></div>`),
    has: WHOLE,
  },
  "a page of an old kind, laid out with tables": {
    html: `<html><head><title>Pier</title></head><body><table width="100%"><tr><td width="150"><a href="/">Home</a><br><a href="/x">Links</a></td><td><font size="2">${WHOLE.join("<br><br>")}</font></td></tr></table></body></html>`,
    has: WHOLE,
  },
  "a page with text in plain breaks": {
    html: page(`<h1>Pier closed</h1>${WHOLE.join("<br><br>")}`),
    has: WHOLE,
  },
  "a page without html, head and body": { html: `<title>Pier</title><h1>Pier closed</h1>${STORY}`, has: WHOLE },
  "a page that goes on behind its end": {
    html: `${page(`<h1>Pier closed</h1><p>${P1}</p>`)}<p>${P2}</p><p>${P3}</p>`,
    has: WHOLE,
  },
  "a page in Japanese": {
    html: page(
      "<article><h1>潮汐</h1><p>海の水は一日に二回、月の引力によって上がったり下がったりします。これを潮汐と呼びます。</p><p>ファンディ湾では差が十六メートルに達します。</p></article>",
      "<title>潮汐</title>",
    ),
    has: ["月の引力", "十六メートル"],
  },
  "a page in Arabic, from right to left": {
    html: page(
      '<article dir="rtl"><h1>المد والجزر</h1><p>يرتفع ماء البحر وينخفض مرتين في اليوم بسبب جاذبية القمر، وهذا ما يسمى المد والجزر.</p></article>',
      "<title>المد</title>",
    ),
    has: ["جاذبية القمر"],
  },
  "a story with pictures and captions": {
    html: page(
      `<article>${P1 ? `<p>${P1}</p>` : ""}<figure><img src="a.jpg" alt="crane"><figcaption>The crane on Tuesday morning.</figcaption></figure><p>${P2}</p><p>${P3}</p></article>`,
    ),
    has: WHOLE,
  },
  "a story cut up by advertisements": {
    html: page(
      `<article><p>${P1}</p><div class="advertisement ad-slot">Advertisement: buy our boots now</div><p>${P2}</p><div class="ad-slot">Advertisement: cheap flights</div><p>${P3}</p></article>`,
    ),
    has: WHOLE,
    lacks: ["buy our boots"],
  },
  "a mailing list post": {
    html: page(`<h1>[dev] Release 2.0</h1><pre>Hello all,\n\n${P1}\n${P2}\n\n-- \nAnn</pre>`),
    has: [P1, P2],
  },
  "a transcript": {
    html: page(
      `<main><h1>Interview</h1><p><b>Q:</b> When does the pier open again?</p><p><b>A:</b> In three weeks, if the steel comes in time and the weather holds.</p><p><b>Q:</b> Who pays?</p><p><b>A:</b> The insurance of the crane's owner, we believe.</p></main>`,
    ),
    has: ["In three weeks", "insurance of the crane's owner"],
  },
  "a change log": {
    html: page(
      `<main><h1>Changes</h1><h2>2.1.0</h2><ul><li>Dates are read in eleven more formats.</li><li>Prices are kept for a minute.</li></ul><h2>2.0.0</h2><ul><li>The old interface was removed.</li></ul></main>`,
    ),
    has: ["eleven more formats", "old interface was removed"],
  },
  "a page whose article is in its JSON-LD": {
    html: page(
      `<div id="root"></div><script type="application/ld+json">${JSON.stringify({ "@type": "NewsArticle", articleBody: WHOLE.join("\n") })}</script><script src="/app.js"></script>`,
    ),
    has: WHOLE,
    needsScripts: false,
  },
  "a page that has the texts of other pages in its JSON-LD": {
    html: page(
      `<article><h1>Pier closed</h1>${STORY}</article><script type="application/ld+json">${JSON.stringify({ "@type": "Blog", blogPost: [{ articleBody: "Another story about cats. ".repeat(90) }, { articleBody: WHOLE.join("\n") }] })}</script>`,
    ),
    has: WHOLE,
    lacks: ["about cats"],
  },
  "an application that shows nothing without scripts": {
    html: page(
      `<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script src="/main.js"></script>`,
    ),
    has: [],
    needsScripts: true,
  },
  "an application without a word about scripts": {
    html: page(`<div id="__next"></div><script src="/_next/static/main.js"></script>`),
    has: [],
    needsScripts: true,
  },
  "a check of browsers": {
    html: page(
      `<h1>example.com</h1><p>Checking your browser before accessing the site. Please enable JavaScript and cookies to continue.</p><script>x()</script>`,
      "<title>Just a moment...</title>",
    ),
    has: [],
    needsScripts: true,
  },
  "a rendered application with a noscript hint": {
    html: page(
      `<noscript>Please enable JavaScript for the full experience.</noscript><div id="__next"><main><article><h1>Pier closed</h1>${STORY}</article></main></div><script src="/main.js"></script>`,
    ),
    has: WHOLE,
    needsScripts: false,
  },
  "an article about JavaScript": {
    html: page(
      `<article><h1>Progressive enhancement</h1><p>Sites that require JavaScript for their text lose readers on slow lines, on old phones and behind filters, and search engines see less of them.</p><p>Render the words on the server, and let scripts add what is nice to have. Test it by switching scripts off for a day and reading your own pages as a stranger would, on a phone, on a train.</p><p>Most frameworks can do that today with a single setting, and the pages become faster as well.</p></article>`,
    ),
    has: ["Render the words on the server"],
    needsScripts: false,
  },
};
