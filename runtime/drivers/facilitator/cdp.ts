import { createHttpFacilitator, type HttpFacilitator } from "./http.ts";

export interface CdpFacilitatorOptions {
  readonly apiKeyId: string;
  readonly apiKeySecret: string;
  /** Another base URL than Coinbase's own. */
  readonly url?: string | undefined;
}

const CDP_FACILITATOR_URL = "https://api.cdp.coinbase.com/platform/v2/x402";

/**
 * Coinbase's facilitator: every request carries its own short-lived token, signed with the operator's CDP API key by
 * Coinbase's own package, which is loaded with the first request.
 */
export function createCdpFacilitator({ apiKeyId, apiKeySecret, url }: CdpFacilitatorOptions): HttpFacilitator {
  const base = url ?? CDP_FACILITATOR_URL;
  const { host, pathname } = new URL(base);
  return createHttpFacilitator({
    url: base,
    async headers(action) {
      const { createAuthHeader, createCorrelationHeader } = await import("@coinbase/x402");
      const method = action === "supported" ? "GET" : "POST";
      const path = `${pathname.replace(/\/$/, "")}/${action}`;
      return {
        authorization: await createAuthHeader(apiKeyId, apiKeySecret, method, host, path),
        "correlation-context": createCorrelationHeader(),
      };
    },
  });
}
