import { readFile } from "node:fs/promises";
import type { Upstream } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { silentLog } from "../../core/silent-log.ts";
import { createHttpTransport } from "../../drivers/upstream/transport.ts";
import { createUpstream } from "../../drivers/upstream/upstream.ts";

/** The content of one source: resources as facilitators list them, or services of a registry. */
export interface RegistrySource {
  readonly resources: readonly unknown[];
  readonly services: readonly unknown[];
}

const PAGE = 100;
/** Far more pages than any facilitator has; stops a list that never ends. */
const MOST_PAGES = 2000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads a facilitator's discovery endpoint (x402 Bazaar, `GET /discovery/resources`, page by page), or a file that holds
 * such an answer, a list of resources, or a registry.
 * @param source the facilitator's URL, or the file's path. @throws Problem `bad-request`, `upstream-failed`.
 */
export const readSource = (source: string, signal: AbortSignal): Promise<RegistrySource> =>
  /^https?:\/\//i.test(source) ? readFacilitator(source, signal) : readRegistryFile(source);

async function readRegistryFile(path: string): Promise<RegistrySource> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new Problem("bad-request", `${path} cannot be read`, { cause });
  });
  const content = parse(text, path);
  if (Array.isArray(content)) return { resources: content, services: [] };
  if (isObject(content) && Array.isArray(content.items)) return { resources: content.items, services: [] };
  if (isObject(content) && Array.isArray(content.services)) return { resources: [], services: content.services };
  throw new Problem(
    "bad-request",
    `${path} has neither the items of a discovery endpoint nor the services of a registry`,
  );
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new Problem("bad-request", `${path} is no JSON`, { cause });
  }
}

async function readFacilitator(url: string, signal: AbortSignal): Promise<RegistrySource> {
  const http = createHttpTransport();
  try {
    const facilitator = createUpstream({
      id: "facilitator",
      title: "The facilitator",
      url,
      headers: {},
      timeoutMs: 30_000,
      retries: 4,
      transport: http.send,
      clock: { now: Date.now },
      log: silentLog,
    });
    return { resources: await readPages(facilitator, signal), services: [] };
  } finally {
    await http.close();
  }
}

async function readPages(facilitator: Upstream, signal: AbortSignal): Promise<readonly unknown[]> {
  const resources: unknown[] = [];
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const query = { limit: String(PAGE), offset: String(resources.length) };
    const answer = await facilitator.get("/discovery/resources", { signal, query, maxBytes: MAX_BYTES });
    const body = answer.status === 200 ? answer.json() : undefined;
    if (!isObject(body) || !Array.isArray(body.items))
      throw new Problem(
        "upstream-failed",
        `The facilitator lists no resources: it answered with status ${answer.status}`,
      );
    resources.push(...body.items);
    const total = isObject(body.pagination) ? body.pagination.total : undefined;
    if (body.items.length === 0 || (typeof total === "number" && resources.length >= total)) return resources;
  }
  throw new Problem("upstream-failed", `The facilitator lists more than ${MOST_PAGES} pages of resources`);
}
