import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { once } from "../../core/once.ts";
import type { AdminRoute } from "../../server/admin/routes.ts";
import { ASSETS } from "../../surfaces/pages/seller/frame.ts";

const PAGES = join(import.meta.dirname, "../../surfaces/pages");
const UPLOT = dirname(createRequire(import.meta.url).resolve("uplot"));

/** The files of the seller's pages: name, media type and path. */
const FILES = [
  ["look.css", "text/css; charset=utf-8", join(PAGES, "explorer/look.css")],
  ["icon.svg", "image/svg+xml", join(PAGES, "explorer/icon.svg")],
  ["seller.css", "text/css; charset=utf-8", join(PAGES, "seller/seller.css")],
  ["seller.js", "text/javascript; charset=utf-8", join(PAGES, "seller/seller.js")],
  ["uplot.css", "text/css; charset=utf-8", join(UPLOT, "uPlot.min.css")],
  ["uplot.js", "text/javascript; charset=utf-8", join(UPLOT, "uPlot.iife.min.js")],
] as const;

/** The routes of these files. A file is read on its first request. */
export const pageFiles: readonly AdminRoute[] = FILES.map(([name, type, file]) => {
  const read = once(() => readFile(file));
  return {
    method: "GET",
    path: `${ASSETS}${name}`,
    async handle() {
      const headers = ["Content-Type", type, "Cache-Control", "private, max-age=60"];
      return { status: 200, headers, body: await read() };
    },
  };
});
