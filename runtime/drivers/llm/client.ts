import type OpenAI from "openai";
import { readBounded } from "../http/bounded-body.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { toRetryAfterMs } from "../http/retry-after.ts";

/** The part of the platform's fetch that is needed here. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** An answer of a few hundred tokens has a few kilobytes. */
const MAX_BYTES = 1024 * 1024;
/** The client waits as long as `Retry-After` says; longer than this, the caller had better be told. */
const MAX_PAUSE_SECONDS = 2;

/**
 * OpenAI's own client, told everything that it would otherwise read from the environment.
 * @param endpoint.baseUrl a name and a password in it become a basic authorization header.
 */
export async function openLlmClient(
  endpoint: { readonly baseUrl: string; readonly apiKey?: string | undefined },
  fetch: Fetch = globalThis.fetch,
): Promise<OpenAI> {
  const { default: Client } = await import("openai");
  const { apiKey } = endpoint;
  const { url, headers } = toEndpoint(endpoint.baseUrl);
  return new Client({
    baseURL: url.href,
    apiKey: apiKey ?? "none", // The client does not start without one; its header is then taken away.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...(apiKey === undefined && { authorization: null }), ...headers },
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
    const body = await readBounded(response.body ?? [], "The language model", MAX_BYTES);
    const headers = new Headers(response.headers);
    if ((retryAfterOf(headers) ?? 0) > MAX_PAUSE_SECONDS) headers.set("x-should-retry", "false");
    return new Response(body.length > 0 ? body : null, { status: response.status, headers });
  };
}

/** `Retry-After` in whole seconds, at least 1; undefined where it says nothing. */
export function retryAfterOf(headers: Headers): number | undefined {
  const ms = toRetryAfterMs(headers.get("retry-after"), Date.now());
  return ms === undefined ? undefined : Math.max(1, Math.ceil(ms / 1000));
}
