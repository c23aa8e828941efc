import { extractText, getDocumentProxy } from "unpdf";
import type { DocumentText } from "./document-task.ts";

/** What stands in a form of Adobe's (XFA) for programs that cannot show it. */
const NOTICE = /^\s*please wait[\s.…]*if this message is not eventually replaced by the proper contents/i;

/**
 * The text of a PDF, with an empty line between pages; "" when it has none (a scan, for example). Text in a font that needs
 * a table of Adobe's (most old Chinese, Japanese and Korean ones do) is left out without a word, since no tables are here.
 */
export async function readPdf(bytes: Uint8Array): Promise<DocumentText> {
  let lacksLetters = false;
  class BinaryDataFactory {
    async fetch({ kind }: { readonly kind: string }): Promise<never> {
      if (kind === "cMapUrl") lacksLetters = true;
      throw new Error(`there is no data of the kind ${kind}`);
    }
  }
  const { text: pages } = await extractText(await getDocumentProxy(bytes, { BinaryDataFactory }));
  const text = pages.join("\n\n").trim();
  const blank = pages.filter((page) => page.trim() === "").length;
  return { text, isFramed: NOTICE.test(text), isScan: text !== "" && 2 * blank > pages.length, lacksLetters };
}
