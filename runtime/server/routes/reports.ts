import type { Request } from "express";
import { Problem } from "../../api/problem.ts";
import type { PublishedReport, ReportShelf } from "../../core/jobs/reports.ts";
import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import { isKnown } from "../reply/etag.ts";
import type { Reply } from "../reply/reply.ts";
import type { Methods } from "./resource.ts";

/** What a page among the files may do: look as it likes, and show pictures of ours. It runs nothing and sends nothing. */
const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** They never change; whoever has the address may keep them, and nobody between us and them. */
const CACHE_CONTROL = `private, max-age=${JOB_KEEP_MS / 1000}, immutable`;

/** Published files by their addresses. Nothing lists them. */
export const createReports = (shelf: Pick<ReportShelf, "find">): ReadonlyMap<string, Methods> =>
  new Map([["/reports/{folder}/{name}", { GET: (request) => answer(shelf, request) }]]);

/** @throws Problem `not-found`. The body is read only for those who need it. */
async function answer(shelf: Pick<ReportShelf, "find">, { params, headers, method }: Request): Promise<Reply> {
  const { folder = "", name = "" } = params as Readonly<Record<string, string>>;
  const report = await shelf.find(folder, name);
  if (!report) throw nothing();
  const etag = `"${report.sha256}"`;
  const reply = { status: 200, headers: toHeaders(report, name, etag) };
  if (isKnown(headers, etag)) return { ...reply, status: 304 };
  if (method === "HEAD") return { ...reply, headers: [...reply.headers, "Content-Length", String(report.bytes)] };
  const body = await report.read();
  if (body === undefined) throw nothing();
  return { ...reply, body };
}

function toHeaders({ type }: PublishedReport, name: string, etag: string): readonly string[] {
  return [
    ...["Content-Type", type],
    ...["Cache-Control", CACHE_CONTROL],
    ...["Content-Security-Policy", POLICY],
    ...["ETag", etag],
    ...["X-Robots-Tag", "noindex"],
    // Spreadsheets are for other programs than the browser.
    ...(type.startsWith("text/csv") ? ["Content-Disposition", `attachment; filename="${name}"`] : []),
  ];
}

const nothing = (): Problem =>
  new Problem("not-found", `There is no report at this address; reports are kept for ${JOB_KEEP_MS / 86_400_000} days`);
