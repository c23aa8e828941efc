import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware } from "@x402/express";
import express from "express";
import type { SiteManifest } from "../../runtime/core/set/manifest.ts";
import { closeServer, listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import type { Sandbox } from "../../runtime/sandbox/open-sandbox.ts";
import { type Files, makeDirectory } from "../core/set/served-directory.ts";
import { BASE_RAIL } from "../support/chains/scripted-rail.ts";
import { createFolder } from "../support/folder.ts";
import { startSeller } from "../support/sellers/seller.ts";

/** A seller of two routes, `/v1/coin` and `/v1/dice`, at one price, whose work takes 300 ms and differs each time. */
export interface BatterySeller {
  readonly url: string;
  /** How often the work ran. */
  runs(): Promise<number>;
  stop(): Promise<void>;
}

const PRICE = "0.01";
const WORK_MS = 300;
const ROUTES = ["coin", "dice"];

/** The real `payphone serve` in a process of its own, on the sandbox's chain, with another facilitator. */
export async function startPayphone(sandbox: Sandbox, facilitatorUrl: string): Promise<BatterySeller> {
  const data = createFolder();
  const dir = await makeDirectory(SET);
  const seller = await startSeller({ sandbox, dataDir: data, dir, env: { FACILITATOR_URL: facilitatorUrl } });
  return {
    url: seller.url,
    async runs() {
      return ((await (await fetch(`${seller.url}/v1/runs`)).json()) as { runs: number }).runs;
    },
    async stop() {
      await seller.stop();
    },
  };
}

/** The stock x402 middleware on Express, wired as its documentation says. */
export async function startStock(facilitatorUrl: string, payTo: string): Promise<BatterySeller> {
  let runs = 0;
  const accepts = [{ scheme: "exact", network: BASE_RAIL.network as "eip155:8453", payTo, price: `$${PRICE}` }];
  const routes = Object.fromEntries(ROUTES.map((name) => [`POST /v1/${name}`, { accepts, description: `A ${name}.` }]));
  const resources = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }));
  resources.register(BASE_RAIL.network as "eip155:8453", new ExactEvmScheme());
  const app = express();
  app.use(paymentMiddleware(routes, resources));
  app.use(express.json());
  for (const name of ROUTES)
    app.post(`/v1/${name}`, async (_request, response) => {
      runs += 1;
      await sleep(WORK_MS);
      response.json({ value: randomUUID() });
    });
  const server = createServer(app);
  return {
    url: await listenOnLoopback(server),
    runs: async () => runs,
    stop: () => closeServer(server),
  };
}

const toManifest = (name: string): string => `id: ${name}
title: ${name}
description: A ${name}, for the battery.
route: POST /v1/${name}
price: "${PRICE}"
handler: battery.${name}
input: { type: object, properties: { label: { type: string } } }
output: { type: object, properties: { value: { type: string } }, required: [value] }
tags: [tests]
examples:
  - input: { label: a }
    output: { value: "1" }
`;

const SET: Files = {
  "manifests/_site.yaml": JSON.stringify({
    name: "battery",
    title: "Battery",
    description: "What the hostile battery buys.",
    version: "1.0.0",
    catalog_version: "1.0",
    contact: { name: "The tests", url: "https://example.com" },
    rails: [BASE_RAIL],
    yen_tiers: {},
    limits: {
      offer_seconds: 300,
      deadline_seconds: 30,
      body_bytes: 65_536,
      body_depth: 64,
      url_bytes: 8192,
      unpaid_per_minute: 600,
      unpaid_burst: 300,
    },
  } satisfies SiteManifest),
  ...Object.fromEntries(ROUTES.map((name) => [`manifests/${name}.yaml`, toManifest(name)])),
  "manifests/runs.yaml": `id: runs
title: Runs
description: How often the battery's work ran.
route: GET /v1/runs
handler: battery.runs
input: { type: object }
output: { type: object, properties: { runs: { type: integer } }, required: [runs] }
tags: [tests]
examples:
  - input: {}
    output: { runs: 1 }
`,
  "plugins/battery.ts": `import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { definePlugin } from "#plugin";

let runs = 0;
const work = async () => {
  runs += 1;
  await sleep(${WORK_MS});
  return { value: randomUUID() };
};

export default definePlugin("battery", () => ({ coin: work, dice: work, runs: () => ({ runs }) }));
`,
};
