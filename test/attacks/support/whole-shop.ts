import type { RequestListener } from "node:http";
import { join } from "node:path";
import { toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../runtime/cli/set/plugins/load.ts";
import { PATHS } from "../../../runtime/core/paths.ts";
import { createPayments } from "../../../runtime/core/payments.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { PaymentPayload, PaymentRequired, VerifyResponse } from "../../../runtime/core/x402/x402.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { openServer } from "../../../runtime/server/listen.ts";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

/** Every service of this repository on a loopback port. Each payment fits its offer, and none is good. */
export interface WholeShop {
  readonly url: string;
  readonly services: readonly Service[];
  /** Makes PAYMENT-SIGNATURE headers for a path, each with a nonce of its own. */
  toPayments(path: string): Promise<() => string>;
  close(): Promise<void>;
}

export interface WholeShopOptions {
  /** What the facilitator says of every payment. */
  readonly verify: (payment: PaymentPayload) => VerifyResponse;
  readonly limits?: Partial<SiteManifest["limits"]>;
}

/** A listener for every service of this repository, with no source behind them. */
export async function createWholeShop(
  baseUrl: string,
  { verify, limits: own }: WholeShopOptions,
): Promise<Pick<WholeShop, "services" | "close"> & { readonly listener: RequestListener }> {
  const set = await loadSet(join(import.meta.dirname, "../../.."));
  const env = { LLM_BASE_URL: "http://127.0.0.1:9", LLM_MODEL: "none", BASE_PAYMENT_ADDRESS: `0x${"2".repeat(40)}` };
  const { handlers } = await loadPlugins(set, { ...toIdleLent(set), env });
  const rail = createScriptedRail();
  rail.script.verify = verify;
  const limits = { ...set.site.limits, ...own };
  const site = { ...set.site, rails: [rail.manifest], limits };
  const { schemas, compile } = set;
  const services = bindServices(set.manifests, { site, compile, handlers, statusOf: () => async () => ({}) });
  const idle = { clock: { now: Date.now }, log: silentLog };
  const payments = createPayments({ site, services, rails: [rail], store: createMemoryStore(), ...idle });
  await payments.start();
  const { invoke, offers } = payments;
  const shown = { services, schemas, site, baseUrl };
  const doors = new Map([[PATHS.mcp, createMcp({ ...shown, invoke, loopback: true })]]);
  const listener = createApp({
    ...idle,
    services,
    invoke,
    challenge: offers.challenge,
    site: { ...site, baseUrl },
    limits,
    createLimiter: createMemoryLimiter,
    doors,
    trustProxy: 1,
    ready: () => Promise.reject(new Error("nobody asks")),
  });
  return { listener, services, close: async () => payments.close() };
}

/** A shop whose facilitator refuses every payment, without limits on requests. */
export async function openWholeShop(): Promise<WholeShop> {
  const server = await openServer({ host: "127.0.0.1", port: 0 });
  const { listener, services, close } = await createWholeShop(server.url, {
    verify: () => ({ isValid: false, invalidReason: "invalid_signature" }),
    limits: { unpaid_per_minute: 1_000_000, unpaid_burst: 1_000_000 },
  });
  server.attach(listener);
  return {
    url: server.url,
    services,
    toPayments: (path) => toPayments(server.url + path),
    async close() {
      await close();
      await server.close({ graceMs: 0 });
    },
  };
}

let nonce = 0;

/** @param signature of 65 bytes, in hex without 0x */
export async function toPayments(url: string, signature = "11".repeat(65)): Promise<() => string> {
  const { accepts, resource } = (await (await fetch(url, { method: "POST" })).json()) as PaymentRequired;
  const [accepted] = accepts;
  const validBefore = String(Math.floor(Date.now() / 1000) + 300);
  return () => {
    nonce += 1;
    const authorization = {
      from: `0x${"1".repeat(40)}`,
      to: accepted?.payTo,
      value: accepted?.amount,
      validAfter: "0",
      validBefore,
      nonce: `0x${nonce.toString(16).padStart(64, "0")}`,
    };
    const payload = { signature: `0x${signature}`, authorization };
    return Buffer.from(JSON.stringify({ x402Version: 2, accepted, resource, payload })).toString("base64");
  };
}
