import { parentPort, workerData } from "node:worker_threads";
import type { Source } from "./document.ts";

parentPort?.postMessage(await read(workerData));

/** Each kind loads its own library alone. */
async function read(source: Source): Promise<string> {
  if (source.kind === "pdf") return (await import("./pdf.ts")).readPdf(source.bytes);
  return (await import("./html.ts")).readHtml(source.html, source.url);
}
