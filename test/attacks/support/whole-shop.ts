import { join } from "node:path";
import { toIdleLent } from "../../../runtime/cli/set/check.ts";
import { loadPlugins, loadSet } from "../../../runtime/cli/set/load.ts";
import { PATHS } from "../../../runtime/core/paths.ts";
import { createPayments } from "../../../runtime/core/payments.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { PaymentRequired } from "../../../runtime/core/x402/x402.ts";
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

export async function openWholeShop(): Promise<WholeShop> {
  const set = await loadSet(join(import.meta.dirname, "../../.."));
  const env = { LLM_BASE_URL: "http://127.0.0.1:9", LLM_MODEL: "none", BASE_PAYMENT_ADDRESS: `0x${"2".repeat(40)}` };
  const { handlers } = await loadPlugins(set, { ...toIdleLent(set), env });
  const rail = createScriptedRail();
  rail.script.verify = () => ({ isValid: false, invalidReason: "invalid_signature" });
  const limits = { ...set.site.limits, unpaid_per_minute: 1_000_000, unpaid_burst: 1_000_000 };
  const site = { ...set.site, rails: [rail.manifest], limits };
  const { schemas, compile } = set;
  const services = bindServices(set.manifests, { site, compile, handlers, statusOf: () => async () => ({}) });
  const idle = { clock: { now: Date.now }, log: silentLog };
  const payments = createPayments({ site, services, rails: [rail], store: createMemoryStore(), ...idle });
  await payments.start();
  const { invoke, offers } = payments;
  const server = await openServer({ host: "127.0.0.1", port: 0 });
  const shown = { services, schemas, site, baseUrl: server.url };
  const doors = new Map([[PATHS.mcp, createMcp({ ...shown, invoke, loopback: true })]]);
  const ready = (): Promise<never> => Promise.reject(new Error("nobody asks"));
  const challenge = offers.challenge;
  server.attach(createApp({ ...shown, ...idle, site: { ...site, ...shown }, limits, invoke, challenge, doors, ready }));
  let nonce = 0;
  return {
    url: server.url,
    services,
    async toPayments(path) {
      const response = await fetch(server.url + path, { method: "POST" });
      const { accepts, resource } = (await response.json()) as PaymentRequired;
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
        const payload = { signature: `0x${"11".repeat(65)}`, authorization };
        return Buffer.from(JSON.stringify({ x402Version: 2, accepted, resource, payload })).toString("base64");
      };
    },
    async close() {
      payments.close();
      await server.close({ graceMs: 0 });
    },
  };
}
