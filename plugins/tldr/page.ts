import { type Host, isBlank, Problem, type WebAnswer } from "#plugin";
import { decodeText } from "./charset.ts";
import { createReadDocument } from "./document.ts";
import { type DocumentSource, FAULTS } from "./document-task.ts";

/** Fetches the text at a URL. @throws Problem `unparseable-input`, `upstream-failed`; the signal's reason. */
export type ReadPage = (url: string, signal: AbortSignal) => Promise<string>;

const LIMITS = { redirects: 3, timeoutMs: 8000, maxBytes: 2 * 1024 * 1024 };
const ACCEPT = "text/html, application/xhtml+xml, application/pdf, text/*;q=0.9, application/json;q=0.8";
const HTML = /^(?:text\/html|application\/xhtml\+xml)$/;
const TEXT = /^(?:text\/.+|application\/(?:.+\+)?(?:json|xml))$/;
/** A page that is still to come, and a part of one. */
const NOT_THE_PAGE = new Set([202, 206]);

/** Reads a page as text: the article of HTML, the text of a PDF, and text formats unchanged. */
export function createReadPage({ web, site }: Pick<Host, "web" | "site">): ReadPage {
  const readDocument = createReadDocument();
  const headers = { accept: ACCEPT, "user-agent": `${site.name} (+${site.baseUrl})` };

  async function fetch(url: string, signal: AbortSignal): Promise<WebAnswer> {
    try {
      return await web.fetch(url, { ...LIMITS, headers, signal });
    } catch (error) {
      // The request was valid; only the page at its URL cannot be read.
      if (!(error instanceof Problem) || error.code !== "bad-request") throw error;
      throw new Problem("unparseable-input", error.message, { cause: error });
    }
  }

  async function toPageText(source: DocumentSource, signal: AbortSignal): Promise<string> {
    const read = await readDocument(source, signal);
    const fault = (Object.keys(FAULTS) as (keyof typeof FAULTS)[]).find((each) => read[each]);
    if (fault) throw toUnreadable(FAULTS[fault]);
    return read.text;
  }

  async function toText({ headers, body, url }: WebAnswer, signal: AbortSignal): Promise<string> {
    const declared = headers.get("content-type") ?? "";
    const [type = ""] = declared.toLowerCase().split(/[\s;,]/, 1);
    const charset = /charset\s*=\s*["']?([^\s"';,]+)/i.exec(declared)?.[1];
    if (type === "application/pdf" || isPdf(body)) return toPageText({ kind: "pdf", bytes: body }, signal);
    if (HTML.test(type)) {
      const html = decodeText(body, charset);
      return toPageText({ kind: "html", html, url, isXml: type !== "text/html" }, signal);
    }
    if (TEXT.test(type)) return decodeText(body, charset);
    const what = type === "" ? "says no content type" : `is ${type}`;
    throw new Problem("unparseable-input", `What the URL leads to ${what}; HTML, PDF and text can be summarized`);
  }

  return async (url, signal) => {
    const answer = await fetch(url, signal);
    const { status } = answer;
    const { host } = new URL(answer.url);
    if (status >= 300 && status < 400 && answer.headers.get("location") !== null)
      throw new Problem("upstream-failed", `${host} redirects more than ${LIMITS.redirects} times`);
    if (status < 200 || status > 299 || NOT_THE_PAGE.has(status))
      throw new Problem("upstream-failed", `${host} answered with status ${status}`);
    const text = await toText(answer, signal);
    if (isBlank(text) || text.includes("\0"))
      throw new Problem("unparseable-input", "There is no text at the URL that could be summarized");
    if (isGarbled(text)) throw toUnreadable("The letters of what is at the URL cannot be read");
    return text;
  };
}

const toUnreadable = (why: string): Problem => new Problem("unparseable-input", `${why}: send the text`);

/** Control characters, private use, and what could not be decoded: no text is made of them. */
const NO_LETTER = /(?!\s)[\p{Cc}\p{Co}\ufffd]/gu;
/** A larger share of them is no text, but for instance a PDF whose fonts do not say which letters they have. */
const MOST_GARBLED = 0.1;

/**
 * What text in another script looks like when it is read as windows-1252. No language has many words of these characters
 * alone. In such words some are of Latin-1, which a row of dashes or dots has none of.
 */
const MISREAD = /[\u0080-\u00ff\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122\u20ac]{4,}/g;
const MOST_MISREAD = 0.3;

/** Signs that stand between letters where Chinese or Japanese is read as windows-1252: half of each character is ASCII there. */
const SIGNS =
  /[\u00a2-\u00a6\u00a8\u00aa\u00ac\u00af\u00b1-\u00b6\u00b8-\u00ba\u0192\u02c6\u02dc\u2018\u201a\u201e\u2020\u2021\u2030\u2039\u203a]/g;
const MOST_SIGNS = 0.15;

function isGarbled(text: string): boolean {
  const isMisread = (run: string): boolean => 5 * (run.match(/[\u00a1-\u00ff]/g)?.length ?? 0) >= run.length;
  const misread = (text.match(MISREAD) ?? []).filter(isMisread).join("").length;
  const [lost, signs] = [NO_LETTER, SIGNS].map((kind) => text.match(kind)?.length ?? 0) as [number, number];
  const { length } = text.replace(/\s+/g, "");
  return lost > MOST_GARBLED * text.length || misread > MOST_MISREAD * length || signs > MOST_SIGNS * length;
}

/** Servers often send a PDF as application/octet-stream, and scripts as text/html. */
const isPdf = (body: Buffer): boolean => body.subarray(0, 5).toString("latin1") === "%PDF-";
