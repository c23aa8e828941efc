import { lexer, type Token, type Tokens } from "marked";
import { type Html, html } from "../html.ts";
import type { ToReference } from "./references.ts";
import { toTable } from "./table.ts";

/** A report's text as parts of a page. */
export interface ReportBody {
  /** The first heading. */
  readonly title: Html;
  /** The first heading without markup. */
  readonly plainTitle: string;
  readonly blocks: readonly Html[];
}

export interface ReportBodyOptions {
  readonly toReference: ToReference;
  /** Figures by the text of the heading below which they are placed. */
  readonly figures: ReadonlyMap<string, Html>;
}

/**
 * Converts GitHub-flavoured markdown to HTML. All elements are created here and all texts are escaped, so the markdown
 * cannot add markup: HTML is shown as text, and links and images are shown as their texts. An image is omitted where a
 * figure is placed.
 */
export function toReportBody(markdown: string, { toReference, figures }: ReportBodyOptions): ReportBody {
  const tokens = lexer(markdown, { gfm: true });
  const head = tokens.find((token): token is Tokens.Heading => token.type === "heading");
  const placed = new Set<string>();
  const blocks = tokens.filter((token) => token !== head).map(toBlock);
  return {
    title: head ? toInlines(head.tokens) : html``,
    plainTitle: toPlain(head?.tokens ?? []).replaceAll(ZERO_WIDTH_SPACE, ""),
    blocks,
  };

  function toBlock(token: Token): Html {
    switch (token.type) {
      case "heading":
        return toHeading(token as Tokens.Heading);
      case "paragraph":
        return toParagraph(token as Tokens.Paragraph);
      case "table":
        return toTable(token as Tokens.Table, { toInlines, toPlain });
      case "list":
        return toList(token as Tokens.List);
      case "blockquote":
        return html`<blockquote>${(token as Tokens.Blockquote).tokens.map(toBlock)}</blockquote>\n`;
      case "code":
        return html`<pre tabindex="0"><code>${(token as Tokens.Code).text}</code></pre>\n`;
      case "text":
        return toInlines((token as Tokens.Text).tokens ?? [token]);
      case "html":
        return html`<p>${(token as Tokens.HTML).text}</p>\n`;
      default: // Blank lines, rules, and link definitions are omitted.
        return html``;
    }
  }

  function toHeading({ depth, tokens: inner }: Tokens.Heading): Html {
    const text = toInlines(inner);
    if (depth > 2) return html`<h3>${text}</h3>\n`;
    const name = toPlain(inner);
    const figure = placed.has(name) ? undefined : figures.get(name);
    placed.add(name);
    return html`<h2>${text}</h2>\n${figure}`;
  }

  function toParagraph({ tokens: inner }: Tokens.Paragraph): Html {
    const shown = inner.filter((token) => token.type !== "image" || !figures.has((token as Tokens.Image).text));
    return shown.length === 0 ? html`` : html`<p>${toInlines(shown)}</p>\n`;
  }

  function toList({ ordered, items }: Tokens.List): Html {
    const lines = items.map(({ tokens: inner }) => html`<li>${inner.map(toBlock)}</li>`);
    return ordered ? html`<ol>${lines}</ol>\n` : html`<ul>${lines}</ul>\n`;
  }

  function toInlines(tokens: readonly Token[]): Html {
    return html`${tokens.map(toInline)}`;
  }

  function toInline(token: Token): Html {
    const inner = "tokens" in token && token.tokens ? toInlines(token.tokens) : undefined;
    if (token.type === "strong") return html`<strong>${inner}</strong>`;
    if (token.type === "em") return html`<em>${inner}</em>`;
    if (token.type === "br") return html`<br>`;
    if (token.type === "codespan") {
      const { text } = token as Tokens.Codespan;
      return html`<code${WORD.test(text) && html` class="word"`}>${toReference(text) ?? text}</code>`;
    }
    return inner ?? toText(token);
  }
}

/** Code that stays on one line. */
const WORD = /^[\w.-]{1,30}$/;

/** A token's text, without markup. */
const toPlain = (tokens: readonly Token[]): string =>
  tokens.map((token) => ("tokens" in token && token.tokens ? toPlain(token.tokens) : toSource(token))).join("");

const toSource = (token: Token): string => ("text" in token ? String(token.text) : token.raw);

/** Keeps texts from becoming links in markdown viewers. */
const ZERO_WIDTH_SPACE = /\u200b/g;

/** Inline text. Its character references (`&#8203;`) come from the markdown and stay; everything else is escaped. */
function toText(token: Token): Html {
  const { markup } = html`${toSource(token)}`;
  if (token.type !== "text") return { markup };
  return { markup: markup.replaceAll(/&amp;(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});/g, "&$1;") };
}
