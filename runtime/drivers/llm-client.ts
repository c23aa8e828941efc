import type OpenAI from "openai";

/** The part of the platform's fetch that is needed here. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** An answer of a few hundred tokens has a few kilobytes. */
const MAX_BYTES = 1024 * 1024;
/** The client waits as long as `Retry-After` says; longer than this, the caller had better be told. */
const MAX_PAUSE_SECONDS = 2;

/** OpenAI's own client, told everything that it would otherwise read from the environment. */
export async function openLlmClient(
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey?: string | undefined },
  fetch: Fetch = globalThis.fetch,
): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  return new Client({
    baseURL: baseUrl,
    apiKey: apiKey ?? "none", // The client does not start without one; its header is then taken away.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    ...(apiKey === undefined && { defaultHeaders: { authorization: null } }),
    fetch: reading(fetch),
    logLevel: "off",
  });
}

/**
 * Reads each answer to its end, so that the client's timeout holds for the body as well, an answer that breaks off is
 * repeated like one that never came, and none can fill the memory.
 */
function reading(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error(`The endpoint's answer is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const headers = new Headers(response.headers);
    if ((retryAfterOf(headers) ?? 0) > MAX_PAUSE_SECONDS) headers.set("x-should-retry", "false");
    return new Response(size > 0 ? Buffer.concat(chunks) : null, { status: response.status, headers });
  };
}

/** `Retry-After` (RFC 9110, section 10.2.3) in whole seconds, at least 1; undefined where it says nothing. */
export function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after");
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : undefined;
}
