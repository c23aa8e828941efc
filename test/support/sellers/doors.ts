import { createServer } from "node:http";
import type { Clock, Log } from "../../../runtime/api/capabilities.ts";
import type { Jobs } from "../../../runtime/core/jobs/jobs.ts";
import { PATHS } from "../../../runtime/core/paths.ts";
import { createPayments } from "../../../runtime/core/payments.ts";
import { createExchanges } from "../../../runtime/core/peers/exchanges.ts";
import type { Service } from "../../../runtime/core/service.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import type { Store } from "../../../runtime/core/store.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createPeerBudgets } from "../../../runtime/drivers/peers/budgets.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { createA2a } from "../../../runtime/surfaces/a2a/a2a.ts";
import { toAgentCard } from "../../../runtime/surfaces/a2a/agent-card.ts";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import type { RpcDoor } from "../../../runtime/surfaces/rpc/door.ts";
import { toIdentity, toPeerKeys } from "../../surfaces/a2a/served/support/peer.ts";
import { type Loose, toPayment } from "../../surfaces/mcp/served/support/stall.ts";
import type { ScriptedRail } from "../chains/scripted-rail.ts";

/** What a shop with jobs sells, on one scripted rail. */
export interface Stock {
  readonly site: SiteManifest;
  readonly services: readonly Service[];
  readonly schemas: ReadonlyMap<string, object>;
  readonly jobs: Jobs;
  readonly rail: ScriptedRail;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

/** The runtime on a free port: REST, MCP and A2A, once it is stocked. */
export interface Doors {
  readonly url: string;
  sell(stock: Stock): Promise<void>;
  /** Makes a payment for the first offer of this challenge, each with a nonce of its own. */
  pay(required: Loose): object;
  close(): Promise<void>;
}

export async function openDoors(): Promise<Doors> {
  const server = createServer({ keepAliveTimeout: 0 });
  const url = await listenOnLoopback(server);
  const closing: (() => unknown)[] = [];
  let nonce = 0;
  return {
    url,
    async sell({ jobs, rail, schemas, ...stock }) {
      const { site, services, store, clock, log } = stock;
      const payments = createPayments({ ...stock, rails: [rail], jobs });
      await payments.start();
      jobs.start();
      closing.push(payments.close, jobs.close);
      const { invoke, offers } = payments;
      const identity = toIdentity("11".repeat(32), "srv-2026-01");
      const shown = { services, site, baseUrl: url, facilitator: "here", identity };
      const exchanges = createExchanges({ store, clock, site });
      const peers = {
        peerKeys: toPeerKeys({}),
        budgets: createPeerBudgets(createMemoryLimiter),
        exchanges,
        store,
        clock,
        log,
      };
      const card = Buffer.from(JSON.stringify(toAgentCard(shown)));
      server.on(
        "request",
        createApp({
          services,
          invoke,
          challenge: offers.challenge,
          clock,
          log,
          site: { ...site, baseUrl: url },
          limits: site.limits,
          createLimiter: createMemoryLimiter,
          ready: () => Promise.reject(new Error("not asked")),
          documents: new Map([[PATHS.agentCard, { type: "application/json", body: card }]]),
          doors: new Map<string, RpcDoor>([
            [PATHS.mcp, createMcp({ services, schemas, invoke, site, baseUrl: url, loopback: true })],
            [PATHS.a2a, createA2a({ ...shown, ...peers, invoke })],
          ]),
        }),
      );
    },
    pay({ accepts, resource }) {
      nonce += 1;
      return toPayment(accepts[0], nonce, resource);
    },
    async close() {
      for (const close of closing) await close();
      await closeServer(server);
    },
  };
}
