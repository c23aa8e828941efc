import { extractText } from "unpdf";
import type { DocumentText } from "./document-task.ts";

/** The text of a PDF, with an empty line between pages; "" when it has none (a scan, for example). */
export async function readPdf(bytes: Uint8Array): Promise<DocumentText> {
  const { text: pages } = await extractText(bytes);
  const text = pages.join("\n\n").trim();
  const blank = pages.filter((page) => page.trim() === "").length;
  return { text, isScan: text !== "" && 2 * blank > pages.length };
}
