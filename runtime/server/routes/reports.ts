import type { Request, Response } from "express";
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
  const terms = { shelf, policy: toPolicy(baseUrl), read: createSharedReader() };
  return new Map([
    [`${PATHS.reports}{folder}/{name}`, { GET: (request, response) => answer(terms, request, response) }],
  ]);
}

type Shelf = Pick<ReportShelf, "find">;

interface Terms {
  readonly shelf: Shelf;
  readonly policy: string;
  readonly read: SharedReader;
}

/** The body of the report at a path, for a response. */
type SharedReader = (path: string, report: PublishedReport, response: Response) => Promise<Buffer | undefined>;

/**
 * Reads bodies. Responses with one file share its bytes until they have ended: a copy for each would fill the memory when
 * many callers read slowly.
 */
function createSharedReader(): SharedReader {
  const held = new Map<string, { readonly body: Promise<Buffer | undefined>; responses: number }>();
  return (path, report, response) => {
    const known = held.get(path);
    const shared = known ?? { body: report.read().then(toBytes), responses: 0 };
    if (response.closed) return shared.body;
    held.set(path, shared);
    shared.responses += 1;
    response.once("close", () => {
      shared.responses -= 1;
      if (shared.responses === 0) held.delete(path);
    });
    return shared.body;
  };
}

/** The body is read from the shelf only when it is sent. @throws Problem `not-found`. */
async function answer(
  { shelf, policy, read }: Terms,
  { params, headers, method }: Request,
  response: Response,
): Promise<Reply> {
  const { folder = "", name = "" } = params as Readonly<Record<string, string>>;
  const report = await shelf.find(folder, name);
  if (!report) throw notFound();
  const etag = `"${report.sha256}"`;
  const reply = { status: 200, headers: toHeaders(report, { name, etag, policy }) };
  if (isKnown(headers, etag)) return { ...reply, status: 304 };
  if (method === "HEAD") return { ...reply, headers: [...reply.headers, "Content-Length", String(report.bytes)] };
  const body = await read(`${folder}/${name}`, report, response);
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

const toBytes = (text: string | undefined): Buffer | undefined => (text === undefined ? undefined : Buffer.from(text));

const notFound = (): Problem =>
  new Problem("not-found", `There is no report at this address; reports are kept for ${JOB_KEEP_MS / 86_400_000} days`);
