import { parentPort, workerData } from "node:worker_threads";
import type { DocumentSource, DocumentText } from "./document-task.ts";

parentPort?.postMessage(await read(workerData));

/** Loads only the library of the document's kind. */
async function read(source: DocumentSource): Promise<DocumentText> {
  if (source.kind === "html") return (await import("./html.ts")).readHtml(source.html, source.url, source.isXml);
  return (await import("./pdf.ts")).readPdf(source.bytes);
}
