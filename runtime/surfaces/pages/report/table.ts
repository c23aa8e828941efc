import type { Token, Tokens } from "marked";
import { type Html, html } from "../html.ts";
import { type Amount, readAmounts, toAmount, toDecimals } from "./amounts.ts";

export interface CellReader {
  readonly toInlines: (tokens: readonly Token[]) => Html;
  readonly toPlain: (tokens: readonly Token[]) => string;
}

/** A wider table becomes a list of cards on a phone. */
const MOST_COLUMNS = 3;

interface Column {
  readonly title: string;
  readonly isNumeric: boolean;
  /** The number of decimals of all amounts; undefined when each amount has its own. */
  readonly decimals: number | undefined;
}

/** A table. Columns of amounts are aligned right and rounded to the same number of decimals. */
export function toTable({ header, rows, align }: Tokens.Table, { toInlines, toPlain }: CellReader): Html {
  const columns = header.map(({ tokens }, at): Column => {
    const cells = rows.map((row) => toPlain(row[at]?.tokens ?? []));
    return toColumn(toPlain(tokens), cells, align[at] === "right");
  });
  const toCell = ({ tokens }: Tokens.TableCell, at: number): Html => {
    const { title, isNumeric, decimals } = columns[at] as Column; // Markdown's rows have as many cells as the header.
    const amounts = isNumeric ? readAmounts(toPlain(tokens)) : undefined;
    const shown = amounts?.map((amount, index) => {
      return html`${index > 0 && html`<br>`}${toAmount(amount, decimals ?? toDecimals(amount))}`;
    });
    const label = columns.length > MOST_COLUMNS && html` data-label="${title}"`;
    const kind = isNumeric ? "number" : isDay(toPlain(tokens)) ? "word" : undefined;
    const content = shown ?? toInlines(tokens);
    const isWrapped = label && toPlain(tokens) !== ""; // A card's line has the label on the left and the content on the right.
    return html`<td${kind && html` class="${kind}"`}${label}>${isWrapped ? html`<span>${content}</span>` : content}</td>`;
  };
  const titles = columns.map(({ title, isNumeric }) => {
    return html`<th scope="col"${isNumeric && html` class="number"`}>${title}</th>`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Table: ${columns.map(({ title }) => title).join(", ")}"><table${columns.length > MOST_COLUMNS && html` class="cards"`}><thead><tr>${titles}</tr></thead><tbody>
${rows.map((row) => html`<tr>${row.map(toCell)}</tr>\n`)}</tbody></table></div>\n`;
}

/** Whether a text is a date, `2026-11-22`, which stays on one line. */
export const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

function toColumn(title: string, cells: readonly string[], isRight: boolean): Column {
  const filled = cells.filter((cell) => cell !== "");
  const amounts = filled.map(readAmounts);
  const isNumeric = isRight || (filled.length > 0 && amounts.every((read) => read !== undefined));
  const plain = amounts.map((read) => (read?.length === 1 && !read[0]?.symbol ? read[0] : undefined));
  const isPlain = plain.length > 0 && plain.every((amount): amount is Amount => amount !== undefined);
  const most = isPlain ? Math.max(...plain.map(toDecimals)) : undefined;
  return { title, isNumeric, decimals: most === 1 ? 2 : most };
}
