import { parentPort, workerData } from "node:worker_threads";
import type { DocumentSource } from "./document.ts";

parentPort?.postMessage(await read(workerData));

/** Loads only the library of the document's kind. */
async function read(source: DocumentSource): Promise<string> {
  if (source.kind === "pdf") return (await import("./pdf.ts")).readPdf(source.bytes);
  return (await import("./html.ts")).readHtml(source.html, source.url);
}
