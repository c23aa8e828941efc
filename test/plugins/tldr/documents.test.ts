import childProcess, { fork } from "node:child_process";
import { once } from "node:events";
import { syncBuiltinESMExports } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { createReadDocument } from "../../../plugins/tldr/document.ts";
import type { DocumentSource, ReadTask } from "../../../plugins/tldr/document-task.ts";
import { readHtml as extractText } from "../../../plugins/tldr/html.ts";
import { eventually } from "../../support/eventually.ts";
import { problemOf } from "../host.ts";
import { ARTICLE, PARAGRAPHS, toJapanesePdf, toLines, toPage, toPdf, toPdfBomb, UTF_16_TABLE } from "./documents.ts";

const URL = "https://one.example/tides";
const TOO_MUCH = /^The document cannot be read (within 1 seconds|in 512 MB of memory)$/;
const DAMAGED = "The document is damaged or protected: it cannot be read";

describe("a document, read in a process of its own", () => {
  const read = createReadDocument({ cpuMs: 45_000, wallMs: 90_000 }); // Some tests run hostile pages beside others.
  const patient = new AbortController().signal;
  const processes = (): number => process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length;
  let idle: number;
  before(() => {
    idle = processes();
  });
  afterEach(() => eventually(() => processes() === idle));
  const readHtml = async (html: string, signal = patient): Promise<string> =>
    (await read({ kind: "html", html, url: URL }, signal)).text;
  const readPdf = async (bytes: Buffer): Promise<string> =>
    (await read({ kind: "pdf", bytes: new Uint8Array(bytes) }, patient)).text;

  it("is the title and the article of a page, without what surrounds it", async () => {
    expect(await readHtml(toPage(ARTICLE))).to.equal(["Tides", ...PARAGRAPHS].join("\n\n"));
  });

  it("has its paragraphs, lines, cells and code apart, and its words as they are read", async () => {
    const html = toPage(`<h1>Tides</h1>${ARTICLE}<h2>Twice&nbsp;a   day
      &amp; more</h2><p>First line<br>second <b>li</b>ne with <a href="https://two.example/">a link</a>.</p>
      <p>Three things matter here, and each of them is told:</p>
      <ol><li>the moon, which is near</li><li>the sun, which is heavy</li></ol>
      <table><tr><th>Place</th><th>Metres</th><th>Spring</th></tr><tr><td>Fundy</td><td></td><td>16</td></tr></table>
      <pre>high()
low()</pre>${ARTICLE}`);
    expect((await readHtml(html)).split("\n\n").slice(2 + 1, -2)).to.deep.equal([
      "Twice a day & more",
      "First line\nsecond line with a link.",
      "Three things matter here, and each of them is told:",
      "the moon, which is near\nthe sun, which is heavy",
      "Place | Metres | Spring\nFundy | | 16",
      "high()\nlow()",
    ]);
  });

  for (const [what, start] of [
    ["memory", () => expect.fail("spawn ENOMEM")],
    ["file descriptors", toUnstarted],
  ] as const)
    it(`is not blamed where the machine is out of ${what}`, async () => {
      const { fork } = childProcess;
      childProcess.fork = start;
      syncBuiltinESMExports();
      const work = problemOf(readHtml(toPage(ARTICLE)));
      childProcess.fork = fork;
      syncBuiltinESMExports();
      expect((await work).code).to.equal("unavailable");
    });

  for (const [what, html] of [
    ["<html>, <head> and <body>", `<!doctype html><title>Tides</title><meta charset="utf-8">${ARTICLE}`],
    ["<body>", `<!doctype html><html><head><title>Tides</title></head>${ARTICLE}</html>`],
    ["<head>", `<html><title>Tides</title><body>${ARTICLE}</body></html>`],
    ["</p>", `<html><head><title>Tides</title></head><body>${ARTICLE.replaceAll("</p>", "")}`],
  ] as const)
    it(`is a page all the same without ${what}`, async () => {
      expect((await extractText(html, URL)).text).to.equal(["Tides", ...PARAGRAPHS].join("\n\n"));
    });

  it("is empty when a page has nothing to read before its scripts have run", async () => {
    for (const html of [
      "",
      "<!-- nothing -->",
      toPage(""),
      "<title>App</title><div id=root></div><script>go()</script>",
    ])
      expect((await extractText(html, URL)).text, html).to.equal("");
  });

  it("asks nobody else for what a page does not say", async () => {
    const asked: unknown[] = [];
    const { fetch } = globalThis;
    globalThis.fetch = async (url) => {
      asked.push(url);
      throw new Error("offline");
    };
    // Of these sites what is missing would be fetched, if that were allowed.
    for (const url of ["https://x.com/one/status/1", "https://www.youtube.com/watch?v=12345678901"])
      expect((await extractText("<html><head></head><body></body></html>", url)).text).to.equal("");
    globalThis.fetch = fetch;
    expect(asked).to.deep.equal([]);
  });

  it("is all the pages of a PDF", async () => {
    const pdf = toPdf([toLines("The tide rises", "and falls."), toLines("It is the moon.")]);
    expect(await readPdf(pdf)).to.equal("The tide rises\nand falls.\n\nIt is the moon.");
  });

  it("is that of a PDF in Japanese whose font has its table inside", async () => {
    const pdf = toJapanesePdf("Identity-H", "予算案", UTF_16_TABLE);
    expect(await readPdf(pdf)).to.equal("Report 2026\n予算案");
  });

  it("is empty when a PDF holds pictures alone", async () => {
    expect(await readPdf(toPdf([Buffer.from("q Q")]))).to.equal("");
  });

  it("is said to be damaged, when it is", async () => {
    for (const bytes of ["%PDF-1.4 and nothing else", "", toPdf([toLines("cut")]).subarray(0, 100)]) {
      const { code, message } = await problemOf(readPdf(Buffer.from(bytes)));
      expect([code, message]).to.deep.equal(["unparseable-input", DAMAGED]);
    }
  });

  const toHtml = (html: string): DocumentSource => ({ kind: "html", html, url: URL });
  const hostile: Record<string, () => DocumentSource> = {
    "20 000 divs in each other": () => toHtml("<div>".repeat(20_000) + ARTICLE + "</div>".repeat(20_000)),
    "2 MB of tags": () => toHtml("<p>x</p>".repeat(2 ** 18)),
    "a PDF that unpacks to half a gigabyte": () => ({ kind: "pdf", bytes: toPdfBomb(512) }),
    "2 MB of tags that are never closed": () => toHtml("<b>x".repeat(2 ** 19)),
  };
  for (const [what, make] of Object.entries(hostile))
    it(`is given up in time: ${what}`, async () => {
      const { code, message } = await problemOf(createReadDocument({ cpuMs: 1000 })(make(), patient));
      expect(code).to.equal("unparseable-input");
      expect(message).to.match(TOO_MUCH);
    });

  it("takes no more memory than it may", async () => {
    const file = join(import.meta.dirname, "../../../plugins/tldr/document-process.ts");
    const reader = fork(file, { serialization: "advanced" });
    const source = { kind: "html", html: toPage(ARTICLE), url: URL } as const;
    reader.send({ source, limitBytes: 2 ** 20, limitCpuMs: 60_000 } satisfies ReadTask);
    expect(await once(reader, "exit")).to.deep.equal([2, null]);
  });

  it("is not blamed when the machine is too busy to read it in time", async () => {
    const { code, message, options } = await problemOf(
      createReadDocument({ cpuMs: 60_000, wallMs: 1 })(toHtml(toPage(ARTICLE)), patient),
    );
    expect([code, message]).to.deep.equal(["unavailable", "The machine is too busy to read the document now"]);
    expect(options.retryAfter).to.equal(10);
  });

  it("is not read where no process can be started", async () => {
    const { execPath } = process;
    process.execPath = "/nowhere/node";
    const { code, message } = await problemOf(
      readHtml(toPage(ARTICLE)).finally(() => Object.assign(process, { execPath })),
    );
    expect([code, message]).to.deep.equal(["unavailable", "No document can be read now"]);
  });

  /** Begins to read a page. Gives the state of that, and how its caller leaves. */
  function begin(html: string): [{ isOver: boolean }, () => Promise<void>] {
    const state = { isOver: false };
    const gone = new AbortController();
    const reading = readHtml(html, gone.signal)
      .catch(() => {})
      .then(() => {
        state.isOver = true;
      });
    const leave = (): Promise<void> => {
      gone.abort();
      return reading;
    };
    return [state, leave];
  }

  it("lets everything else go on while it is read", async () => {
    const [bad, leave] = begin("<div>".repeat(20_000));
    await readHtml(toPage(ARTICLE));
    expect(bad.isOver).to.equal(false);
    await leave();
  });

  it("is not read on when its caller has gone", async () => {
    const [patience, end] = begin("<div>".repeat(20_000));
    const [, leave] = begin("<div>".repeat(20_000));
    expect(processes()).to.equal(idle + 2);
    await leave();
    await eventually(() => processes() === idle + 1);
    expect(patience.isOver).to.equal(false);
    await end();
  });

  it("makes room for others when its caller has gone", async () => {
    const gone = new AbortController();
    const reason = new Error("gone");
    const endless = Array.from({ length: availableParallelism() + 4 }, () =>
      readHtml("<div>".repeat(20_000), gone.signal).catch((error) => error),
    );
    const good = readHtml(toPage(ARTICLE));
    gone.abort(reason);
    for (const error of await Promise.all(endless)) expect(error).to.equal(reason);
    expect(await good).to.match(/^Tides/);
  });
});

/** What Node gives when it cannot open the pipes of a process: nothing can be sent to it, and its error comes later. */
function toUnstarted(): childProcess.ChildProcess {
  const unstarted = new childProcess.ChildProcess();
  unstarted.kill = () => expect.fail("it would end the whole group");
  setImmediate(() => unstarted.emit("error", new Error("spawn EMFILE")));
  return unstarted;
}
