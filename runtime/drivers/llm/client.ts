import type OpenAI from "openai";
import { readBounded } from "../http/bounded-body.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { toRetryAfterMs } from "../http/retry-after.ts";

/** The used part of the platform's `fetch`. */
export type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** An answer of a few hundred tokens has a few kilobytes. */
const MAX_BYTES = 1024 * 1024;
/** The OpenAI client waits as long as `Retry-After` says; for a longer pause, the caller gets the error instead. */
const MAX_PAUSE_SECONDS = 2;

/**
 * OpenAI's own client, with explicit values for everything that it would otherwise read from the environment.
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
    apiKey: apiKey ?? "none", // The client requires a key; without one, its header is removed below.
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
 * Reads each answer completely, so that the client's timeout covers the body, an interrupted answer is retried like a
 * missing one, and the size is limited.
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
