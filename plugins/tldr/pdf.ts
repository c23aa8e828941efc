import { extractText } from "unpdf";

/** The text of a PDF, with an empty line between pages; "" when it has none (a scan, for example). */
export async function readPdf(bytes: Uint8Array): Promise<string> {
  const { text } = await extractText(bytes);
  return text.join("\n\n").trim();
}
