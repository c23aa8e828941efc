import type { Request } from "express";
import { Problem } from "../../api/problem.ts";
import type { PublishedReport, ReportShelf } from "../../core/jobs/reports.ts";
import { PATHS } from "../../core/paths.ts";
import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import { isKnown } from "../reply/etag.ts";
import type { Reply } from "../reply/reply.ts";
import type { Methods } from "./resource.ts";

/**
 * HTML files may use inline styles, images of this origin, and the one script that copies texts. They may not send
 * requests.
 */
const toPolicy = (baseUrl: string): string =>
  [
    "default-src 'none'",
    `script-src ${baseUrl}${PATHS.assets}copy.js`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Files never change. Callers may cache them, proxies may not. */
const CACHE_CONTROL = `private, max-age=${JOB_KEEP_MS / 1000}, immutable`;

/** Published files at their unguessable addresses. No page lists them. */
export function createReports(shelf: Shelf, baseUrl: string): ReadonlyMap<string, Methods> {
  const policy = toPolicy(baseUrl);
  return new Map([[`${PATHS.reports}{folder}/{name}`, { GET: (request) => answer(shelf, policy, request) }]]);
}

type Shelf = Pick<ReportShelf, "find">;

/** The body is read from the shelf only when it is sent. @throws Problem `not-found`. */
async function answer(shelf: Shelf, policy: string, { params, headers, method }: Request): Promise<Reply> {
  const { folder = "", name = "" } = params as Readonly<Record<string, string>>;
  const report = await shelf.find(folder, name);
  if (!report) throw notFound();
  const etag = `"${report.sha256}"`;
  const reply = { status: 200, headers: toHeaders(report, { name, etag, policy }) };
  if (isKnown(headers, etag)) return { ...reply, status: 304 };
  if (method === "HEAD") return { ...reply, headers: [...reply.headers, "Content-Length", String(report.bytes)] };
  const body = await report.read();
  if (body === undefined) throw notFound();
  return { ...reply, body };
}

function toHeaders(
  { type }: PublishedReport,
  { name, etag, policy }: Readonly<Record<"name" | "etag" | "policy", string>>,
): readonly string[] {
  // biome-ignore format: one header a line
  return [
    "Content-Type", type,
    "Cache-Control", CACHE_CONTROL,
    "Content-Security-Policy", policy,
    "ETag", etag,
    "X-Robots-Tag", "noindex",
    // Spreadsheets are downloaded, not shown in the browser.
    ...(type.startsWith("text/csv") ? ["Content-Disposition", `attachment; filename="${name}"`] : []),
  ];
}

const notFound = (): Problem =>
  new Problem("not-found", `There is no report at this address; reports are kept for ${JOB_KEEP_MS / 86_400_000} days`);
