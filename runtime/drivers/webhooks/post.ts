import { Webhook } from "standardwebhooks";
import type { Clock } from "../../api/capabilities.ts";
import { toWebhookBody } from "../../core/webhooks/events.ts";
import type { PostWebhook } from "../../core/webhooks/outbox.ts";
import { toEndpoint } from "../http/endpoint.ts";

/** A receiver's URL, and the secrets that sign its messages: two during a rotation. */
export interface WebhookTarget {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secrets: readonly string[];
}

export interface PostWebhookDeps {
  /** Keyed by the receiver's id. */
  readonly targets: ReadonlyMap<string, WebhookTarget>;
  readonly clock: Clock;
}

/** The timeout of a receiver (Standard Webhooks: 15 to 30 seconds). */
const TIMEOUT_MS = 20_000;

/** Sends messages according to Standard Webhooks: signed, with an id that stays the same. Follows no redirects. */
export function createPostWebhook({ targets, clock }: PostWebhookDeps): PostWebhook {
  return async (endpoint, event, signal) => {
    const target = targets.get(endpoint);
    if (!target) return "Its URL or its secret is not configured in this process";
    const { url, headers: basic } = toEndpoint(target.url);
    const body = toWebhookBody(event);
    const at = new Date(clock.now());
    const headers = {
      "content-type": "application/json",
      "user-agent": "payphone-webhooks",
      ...basic,
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": target.secrets.map((secret) => new Webhook(secret).sign(event.id, at, body)).join(" "),
    };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: bounded });
      await response.body?.cancel();
      return response.ok ? undefined : `It answered ${response.status}`;
    } catch (error) {
      if (bounded.aborted && !signal.aborted) return `It did not answer within ${TIMEOUT_MS / 1000} seconds`;
      const { cause } = error as { readonly cause?: { readonly code?: string; readonly message: string } };
      return `It could not be reached${cause ? ` (${cause.code ?? cause.message})` : ""}`;
    }
  };
}

/** Whether a secret is valid: `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks, "Signature scheme"). */
export function isWebhookSecret(text: string): boolean {
  const bytes = Buffer.from(text.replace(/^whsec_/, ""), "base64");
  const toBare = (base64: string): string => base64.replace(/={1,2}$/, ""); // The library that signs reads no third one.
  const isBase64 = toBare(bytes.toString("base64")) === toBare(text.replace(/^whsec_/, ""));
  return text.startsWith("whsec_") && isBase64 && bytes.length >= 24 && bytes.length <= 64;
}
