import { gzipSync } from "node:zlib";
import { expect } from "chai";
import tldr from "../../../plugins/tldr/index.ts";
import { openShop, type Shop } from "../../support/sellers/shop.ts";
import { type Behaviour, type LlmServer, openLlmServer, say } from "../../support/sources/llm-server.ts";
import { createHost, faultsOf, problemOf, type Serve, serve } from "../host.ts";
import { createServicesLlm } from "../services-llm.ts";
import { ARTICLE, PARAGRAPHS, toLines, toPage, toPdf } from "./documents.ts";
import { openSite, type Page, type Site } from "./site.ts";
import { UNREADABLE } from "./unreadable.ts";

const BULLETS = ["The tide rises.", "The tide falls.", "It is the moon."];
const SUMMARIZED = { summary_bullets: BULLETS };
const NO_URL = "body.url: Value error, url must be an http or https URL without a user name";

describe("a summary of a page", () => {
  let model: LlmServer;
  let site: Site;
  let summarize: Serve;
  before(async () => {
    [model, site] = await Promise.all([openLlmServer(), openSite()]);
    summarize = await serve("tldr", tldr, createHost({ llm: createServicesLlm(model.url), web: site.web }));
  });
  after(() => Promise.all([model.close(), site.close()]));
  beforeEach(() => {
    model.asked.length = 0;
    model.behave(say(SUMMARIZED));
  });
  const read = async (page: Page): Promise<{ data: string; source_chars: unknown }> => {
    site.serve(page);
    const { summary_bullets, source_chars } = await summarize({ url: site.at("/") });
    expect(summary_bullets).to.deep.equal(BULLETS);
    return { data: model.asked[0]?.body.messages[1]?.content.split("\n").slice(1, -1).join("\n") ?? "", source_chars };
  };
  const refuses = async (page: Page): Promise<{ code: string; message: string }> => {
    site.serve(page);
    const { code, message } = await problemOf(summarize({ url: site.at("/") }));
    expect(model.asked, "the model was asked all the same").to.deep.equal([]);
    return { code, message: message.replace(/:\d+/, "") };
  };

  it("is asked for with an http or https URL", async () => {
    for (const url of ["", "one.example", "/etc/passwd", "file:///etc/passwd", "ftp://one.example/", "data:,a"])
      expect(await faultsOf(summarize({ url })), url).to.deep.equal([NO_URL]);
    for (const url of ["http://user@one.example/", "https://user:pass@one.example/"])
      expect(await faultsOf(summarize({ url })), url).to.deep.equal([NO_URL]);
    const long = `https://one.example/${"a".repeat(2029)}`;
    expect(await problemOf(summarize({ url: long }))).to.have.property("code", "invalid-input");
  });

  it("is one of its article, and counts what the model was shown", async () => {
    const { data, source_chars } = await read({ body: toPage(ARTICLE), type: "text/html; charset=utf-8" });
    expect(data).to.equal(["Tides", ...PARAGRAPHS].join("\n\n"));
    expect(source_chars).to.equal(data.length);
  });

  it("is one of the whole of XHTML, where any element may close itself", async () => {
    const body = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Tides</title><script src="a.js" /></head>
      <body><p>The tide rises.<br/></p><script type="text/javascript" src='b.js'/><a id="moon"/><p>It is the moon.</p></body></html>`;
    const { data } = await read({ body, type: "application/xhtml+xml" });
    expect(data).to.equal("Tides\n\nThe tide rises.\n\nIt is the moon.");
  });

  it("is one of a PDF's words", async () => {
    const { data } = await read({ body: toPdf([toLines("The tide rises.")]), type: "application/pdf" });
    expect(data).to.equal("The tide rises.");
  });

  it("is one of a PDF's words, whatever the server calls it", async () => {
    const body = toPdf([toLines("The tide rises.")]);
    for (const type of ["application/octet-stream", "text/html", "text/plain; charset=utf-8"])
      expect((await read({ body, type })).data, type).to.equal("The tide rises.");
  });

  it("is one of a PDF's words, although a page of two is blank", async () => {
    const body = toPdf([toLines("The tide rises."), toLines("")]);
    expect((await read({ body, type: "application/pdf" })).data).to.equal("The tide rises.");
  });

  const texts: readonly [type: string, body: string | Buffer, text: string][] = [
    ["text/plain", "The tide\nrises.", "The tide\nrises."],
    ["text/plain", "\u001b[1mThe\u001b[0m tide\trises\u000c", "\u001b[1mThe\u001b[0m tide\trises\u000c"],
    ["text/plain", "The tide rises \ufffd and falls \ue001.", "The tide rises \ufffd and falls \ue001."],
    ["text/plain", "Übermäßig … œuvre ………………………… ©®™°", "Übermäßig … œuvre ………………………… ©®™°"],
    ["TEXT/Markdown; charset=UTF-8", "# Tide\n\n*rises*", "# Tide\n\n*rises*"],
    ["application/json", '{"tide":"rises"}', '{"tide":"rises"}'],
    ["application/ld+json;charset=utf-8", '{"tide":1}', '{"tide":1}'],
    ["application/atom+xml", "<feed>tide</feed>", "<feed>tide</feed>"],
    ['text/plain; charset="Shift_JIS"', Buffer.from("93fa967b8cea", "hex"), "日本語"],
    ["text/plain;charset=gbk", Buffer.from("b3b1cfab", "hex"), "潮汐"],
    ["text/plain", Buffer.from("fffe6f6e5064", "hex"), "湯摐"],
  ];
  for (const [type, body, text] of texts)
    it(`is one of the text itself, of the type ${type}: ${JSON.stringify(text)}`, async () => {
      expect(await read({ body, type })).to.deep.equal({ data: text, source_chars: text.length });
    });

  it("reads HTML in the encoding that it names itself", async () => {
    const body = Buffer.from(
      toPage("<p>Une mar\xe9e monte et descend deux fois par jour.</p>", '<meta charset="iso-8859-1">'),
      "latin1",
    );
    expect((await read({ body, type: "text/html" })).data).to.equal("Une marée monte et descend deux fois par jour.");
  });

  it("says who asks, and for what", async () => {
    let headers: object = {};
    site.serve((request, response) => {
      headers = request.headers;
      response.setHeader("content-type", "text/plain").end("The tide.");
    });
    await summarize({ url: site.at("/") });
    expect(headers).to.include({ "user-agent": "payphone (+https://pay.test)" });
    expect(headers)
      .to.have.property("accept")
      .that.matches(/^text\/html/);
  });

  it("follows 3 redirects and not a fourth", async () => {
    site.serve(({ url = "" }, response) => {
      const left = Number(url.slice(1));
      if (left > 0) return response.writeHead(302, { location: `/${left - 1}` }).end();
      response.setHeader("content-type", "text/plain").end("The tide.");
    });
    expect((await summarize({ url: site.at("/3") })).source_chars).to.equal(9);
    const { code, message } = await problemOf(summarize({ url: site.at("/4") }));
    expect([code, message]).to.satisfy(
      ([code, message]: string[]) => code === "upstream-failed" && /redirects more than 3 times$/.test(message ?? ""),
    );
  });

  it("has up to 2 MB, and never more, whatever it is packed in", async () => {
    const body = "x ".repeat(2 ** 20);
    const tooLarge = { code: "upstream-failed", message: "one.example answered with more than 2097152 bytes" };
    expect(await refuses({ body: `${body}x`, type: "text/plain" })).to.deep.equal(tooLarge);
    const headers = { "content-encoding": "gzip" };
    expect(await refuses({ body: gzipSync(`${body}x`), type: "text/plain", headers })).to.deep.equal(tooLarge);
    const { message } = await refuses({ body, type: "text/plain" });
    expect(message).to.equal("The text at the URL has 2097152 characters; at most 200000 are summarized");
  });

  for (const [what, page, message] of UNREADABLE)
    it(`is not made of ${what}`, async () => {
      expect(await refuses(page)).to.deep.equal({ code: "unparseable-input", message });
    });

  for (const status of [202, 206, 300, 302, 304, 401, 404, 410, 500, 503])
    it(`is not made of an answer with status ${status}`, async () => {
      const page = { body: toPage(ARTICLE), type: "text/html", status };
      expect(await refuses(page)).to.deep.equal({
        code: "upstream-failed",
        message: `one.example answered with status ${status}`,
      });
    });

  it("is not made of what is inside, nor of what nobody answers for", async () => {
    for (const url of ["http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest/meta-data/"]) {
      const { code, message } = await problemOf(summarize({ url }));
      expect([code, message]).to.deep.equal([
        "unparseable-input",
        `${new URL(url).hostname} is not a public address; only public addresses are fetched`,
      ]);
    }
    site.serve((request) => request.socket.destroy());
    expect(await problemOf(summarize({ url: site.at("/") }))).to.have.property("code", "upstream-failed");
    expect(model.asked).to.deep.equal([]);
  });

  it("does not keep other summaries waiting, however long its page takes to read", async () => {
    site.serve({ body: "<div>".repeat(20_000), type: "text/html" });
    const order: string[] = [];
    const gone = new AbortController();
    const bad = summarize({ url: site.at("/") }, { signal: gone.signal }).catch(() => order.push("bad"));
    await summarize({ text: "The tide." }).then(() => order.push("good"));
    gone.abort();
    await bad;
    expect(order).to.deep.equal(["good", "bad"]);
  });

  describe("that is paid for", () => {
    let shop: Shop;
    before(async () => {
      shop = await openShop();
    });
    after(() => shop.close());
    const buy = async (page: Page, behaviour: Behaviour): Promise<{ status: number; charges: number }> => {
      shop.rail.asked.settle = 0;
      site.serve(page);
      model.behave(behaviour);
      shop.handler = async (_input, { signal }) => {
        await summarize({ url: site.at("/") }, { signal });
        return { value: 1 };
      };
      const { status } = await shop.buy("/v1/roll", { low: 1, high: 6 });
      return { status, charges: shop.rail.asked.settle };
    };
    const page = { body: "The tide.", type: "text/plain" };

    it("is charged when it was made", async () => {
      expect(await buy(page, say(SUMMARIZED))).to.deep.equal({ status: 200, charges: 1 });
    });

    it("is not charged when the page cannot be had, or not be read", async () => {
      expect(await buy({ ...page, status: 404 }, say(SUMMARIZED))).to.deep.equal({ status: 502, charges: 0 });
      expect(await buy({ ...page, type: "image/png" }, say(SUMMARIZED))).to.deep.equal({ status: 400, charges: 0 });
      expect(await buy({ body: "%PDF-1.4", type: "application/pdf" }, say(SUMMARIZED))).to.deep.equal({
        status: 400,
        charges: 0,
      });
    });

    it("is not charged when the model has too few bullets, even twice", async () => {
      expect(await buy(page, say({ summary_bullets: BULLETS.slice(1) }))).to.deep.equal({ status: 502, charges: 0 });
    });
  });
});
