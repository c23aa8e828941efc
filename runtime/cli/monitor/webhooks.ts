import type { Clock, Log } from "../../api/capabilities.ts";
import type { Books } from "../../core/books/books.ts";
import { createRefundRecords } from "../../core/refunds/records.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { isLocalUrl } from "../../core/set/site.ts";
import type { Store } from "../../core/store.ts";
import { createBookFeed } from "../../core/webhooks/book-feed.ts";
import { createDeliveries } from "../../core/webhooks/deliveries.ts";
import { createOutbox } from "../../core/webhooks/outbox.ts";
import { createTroubles, type Troubles, type TroublesDeps } from "../../core/webhooks/troubles.ts";
import { createPostWebhook } from "../../drivers/webhooks/post.ts";
import type { Config } from "../config/config.ts";
import { webhookVariables } from "../config/webhooks.ts";

export interface WebhooksDeps {
  readonly site: SiteManifest;
  readonly config: Config;
  /** When omitted, no webhook is sent. */
  readonly openBooks?: (() => Promise<Books>) | undefined;
  readonly railStatuses: TroublesDeps["railStatuses"];
  readonly distrusted: TroublesDeps["distrusted"];
  /** A sandbox tells receivers on this machine only: elsewhere, its sales would be taken for real ones. */
  readonly isSandbox?: boolean;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
}

const ONLY_HERE = "a sandbox tells receivers on this machine only: its sales are of play money";
/** Of a receiver without a URL. */
const NOBODY = "http://localhost";
const NONE: Troubles = { jobFailed: async () => {}, start: () => {}, close: async () => {} };

/** Sends the messages of a site's webhooks; does nothing when it has none. */
export function openWebhooks(deps: WebhooksDeps): Troubles {
  const { site, config, openBooks, railStatuses, distrusted, isSandbox = false, store, clock, log } = deps;
  const { webhooks = [] } = site;
  const targets = new Map(
    webhooks.flatMap((webhook) => {
      const { target } = webhookVariables(config, webhook);
      return target ? [[webhook.id, target] as const] : [];
    }),
  );
  const elsewhere = webhooks.filter(({ id }) => isSandbox && !isLocalUrl(targets.get(id)?.url ?? NOBODY));
  if (elsewhere.length > 0) log.warn("webhook.not-told", { webhooks: elsewhere.map(({ id }) => id), note: ONLY_HERE });
  const endpoints = webhooks.filter((webhook) => !elsewhere.includes(webhook));
  if (endpoints.length === 0 || !openBooks) return NONE;
  const post = createPostWebhook({ targets, clock });
  const outbox = createOutbox({ endpoints, post, store, clock, log });
  const feed = createBookFeed({ endpoints, openBooks, outbox, deliveries: createDeliveries(store), store, clock, log });
  const refunds = createRefundRecords(store);
  const troubles = createTroubles({ endpoints, outbox, railStatuses, distrusted, refunds, store, clock, log });
  return {
    jobFailed: troubles.jobFailed,
    start() {
      outbox.start();
      feed.start();
      troubles.start();
    },
    async close() {
      await Promise.all([feed.close(), troubles.close()]);
      await outbox.close();
    },
  };
}
