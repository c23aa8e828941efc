import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFolder } from "../support/folder.ts";
import { siteOf } from "../support/sellers/site-of.ts";
import { startAnswering, startServer } from "./contestant.ts";
import { payer } from "./load.ts";
import { toFigures } from "./median.ts";
import { toLiveEnv } from "./start.ts";

/** A paid call that asks an HTTP API over loopback: by a plugin's code, and by `proxy` in a manifest. */
export interface ProxiedRow {
  readonly title: string;
  readonly p50: number;
  readonly p99: number;
}

// x402-tollbooth would stand beside these; it is not on npm.
const CALLS = 600;
const WARM_UP = 100;
/** What `proxy` may add to the plugin's call, in milliseconds at the median. */
export const PROXY_GOAL_MS = 1.5;

const PLUGIN = `import { definePlugin } from "#plugin";

export default definePlugin("asker", (host) => ({
  async asker({ base }, { signal }) {
    return (await host.upstream("api").get("/rates/latest", { query: { base }, signal })).json();
  },
}));
`;

const toManifest = (id: string, work: string): string => `id: ${id}
title: ${id}
description: Asks an API.
route: POST /v1/${id}
price: "0.001"
${work}input: { type: object, properties: { base: { type: string } } }
output: { type: object, properties: { value: { type: integer }, label: { type: string } }, required: [value] }
tags: []
examples:
  - input: { base: EUR }
`;

const SERVICES = {
  asker: "handler: asker.asker\nupstreams: [api]\n",
  proxied: 'proxy:\n  upstream: api\n  request: GET /rates/latest\n  query: { base: "{base}" }\n',
};

/** Sells both through the real `payphone serve`, on SQLite, with the facilitator's stub; their calls take turns. */
export async function measureProxied(): Promise<readonly ProxiedRow[]> {
  const folder = createFolder();
  const [facilitator, api] = await Promise.all([startServer("facilitator"), startServer("bare")]);
  const dir = writeShop(join(folder, "shop"), api.url);
  const launcher = join(import.meta.dirname, "../../runtime/cli/payphone.js");
  const env = toLiveEnv(folder, facilitator.url);
  const seller = await startAnswering([launcher, "serve", "--dir", dir], env, "/ready");
  try {
    const names = Object.keys(SERVICES);
    const pays = await Promise.all(names.map((name) => payer(`${seller.url}/v1/${name}`)));
    const taken = names.map((): number[] => []);
    for (let at = -WARM_UP; at < CALLS; at += 1)
      for (const [which, name] of names.entries()) {
        const ms = await time(`${seller.url}/v1/${name}`, pays[which]?.() ?? "");
        if (at >= 0) taken[which]?.push(ms);
      }
    return names.map((title, which) => ({ title, ...toFigures(taken[which] ?? []) }));
  } finally {
    await Promise.all([seller, facilitator, api].map((running) => running.stop()));
  }
}

function writeShop(dir: string, api: string): string {
  for (const room of ["manifests", "plugins"]) mkdirSync(join(dir, room), { recursive: true });
  writeFileSync(join(dir, "manifests/_site.yaml"), siteOf(`{ id: api, title: The API, url: "${api}" }`));
  writeFileSync(join(dir, "plugins/asker.ts"), PLUGIN);
  for (const [id, work] of Object.entries(SERVICES))
    writeFileSync(join(dir, `manifests/${id}.yaml`), toManifest(id, work));
  return dir;
}

/** @throws Error when the call is not answered with 200. */
async function time(url: string, payment: string): Promise<number> {
  const headers = { "content-type": "application/json", "payment-signature": payment };
  const began = performance.now();
  const response = await fetch(url, { method: "POST", headers, body: '{"base":"EUR"}' });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} was answered with ${response.status}: ${text}`);
  return performance.now() - began;
}
