import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "../../core/once.ts";
import type { Service } from "../../core/service.ts";
import { isEvm, type RailManifest, type SiteManifest, upstreamsOf } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { openSandbox, type Sandbox, toSandboxBuyer } from "../../sandbox/open-sandbox.ts";
import { loadWallets } from "../../sandbox/wallet.ts";
import { readConfig } from "../config/config.ts";
import type { Env } from "../config/reader.ts";
import { toSandboxSources } from "../sandbox/sources.ts";
import { compose } from "../serve/compose.ts";
import type { SourcesOverride } from "../serve/sources.ts";
import { toFaultProblem, tryPlugins } from "../set/check.ts";
import type { ManifestSet } from "../set/load.ts";

/** The services of a shop with recordings in place of its upstreams. Nothing is sold, and no port is open. */
export interface World {
  readonly services: readonly Service[];
  close(): Promise<void>;
}

export interface WorldOptions {
  readonly set: ManifestSet;
  /** The environment of plugins. */
  readonly env: Env;
  /** How far its clock is ahead, in milliseconds. */
  readonly aheadMs: number;
  /** The public address that documents and answers show. */
  readonly baseUrl: string;
  /** Where upstreams are, and how they are requested; when omitted, recordings answer. */
  readonly sources?: Pick<SourcesOverride, "locate" | "wrap" | "llm"> | undefined;
}

/** Variables of a real shop (keys, addresses, nodes, places) that no test may use. */
const REAL = /^(A2A_|TREASURY_|FACILITATOR_|CDP_|LLM_|REDIS_URL(?:_FILE)?$|PAYPHONE_DATA_DIR$|PUBLIC_BASE_URL$)/;

/** Those of open worlds. A plugin may end the process before they are closed. */
const dataDirs = new Set<string>();
const removeAtExit = once(() => process.once("exit", () => dataDirs.forEach(remove)));

function remove(dataDir: string): void {
  rmSync(dataDir, { recursive: true, force: true });
  dataDirs.delete(dataDir);
}

/** Opens a world with keys and a store of its own. @throws Problem `bad-request` with every fault of the plugins. */
export async function openWorld({ set, env, aheadMs, baseUrl, sources: own }: WorldOptions): Promise<World> {
  await using opening = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "payphone-test-"));
  dataDirs.add(dataDir);
  removeAtExit();
  opening.defer(() => remove(dataDir));
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !REAL.test(name)));
  const sandbox = await openChains(set, kept, dataDir);
  opening.defer(() => sandbox.stop());
  const config = readConfig({ ...kept, ...sandbox.env, PAYPHONE_DATA_DIR: dataDir });
  const played = toSandboxSources({ set, own: { env: kept, llm: undefined }, sandbox, online: false });
  const store = await openStore({ dataDir });
  opening.defer(() => store.close());
  const clock = { now: () => Date.now() + aheadMs };
  const parts = {
    description: sandbox.description,
    doors: new Map(),
    ...played,
    sources: { ...played.sources, neverRests: true, ...own },
  };
  const composed = await compose({ set, config, baseUrl, store, clock, log: silentLog, sandbox: parts });
  if (!("listener" in composed)) throw toFaultProblem(composed);
  opening.defer(() => composed.close());
  await composed.start(); // Some plugins read their sources in the background.
  const open = opening.move();
  return { services: composed.services, close: () => open.disposeAsync() };
}

type Chains = Pick<Sandbox, "env" | "description" | "chains" | "stop">;

/** Starts chains only when services read or write them: it takes a second and the sandbox's optional packages. */
async function openChains(set: ManifestSet, env: Env, dataDir: string): Promise<Chains> {
  const { rails } = set.site;
  return (await needsChains(set, env))
    ? openSandbox({ rails, dataDir, anvilBin: env.ANVIL_BIN, log: silentLog })
    : toIdleChains(rails, dataDir);
}

async function needsChains(set: ManifestSet, env: Env): Promise<boolean> {
  const named = new Set(set.manifests.flatMap(upstreamsOf));
  const networks = new Set(set.site.rails.map(({ network }) => network));
  if (set.site.upstreams?.some(({ id, network = "" }) => named.has(id) && networks.has(network))) return true;
  const { faults, capabilities } = await tryPlugins(set, env);
  if (faults.length > 0) throw toFaultProblem(faults);
  return capabilities.has("anchor") || capabilities.has("evm");
}

/** The keys and variables of a sandbox without running chains. */
function toIdleChains(rails: SiteManifest["rails"], dataDir: string): Chains {
  const nowhere = "http://127.0.0.1:9";
  const { treasury, buyer } = loadWallets(dataDir);
  const payTo = (rail: RailManifest): string => (isEvm(rail) ? treasury.evm.address : treasury.solana.address);
  return {
    env: {
      ...Object.fromEntries(
        rails.flatMap((rail) => [
          [rail.pay_to, payTo(rail)],
          [rail.rpc, nowhere],
        ]),
      ),
      FACILITATOR_URL: nowhere,
      TREASURY_EVM_KEY: treasury.evm.privateKey,
      TREASURY_SOLANA_KEY: treasury.solana.secretKey,
    },
    description: {
      mode: "sandbox",
      started_at: new Date().toISOString(),
      buyer: toSandboxBuyer({ buyer }),
      rpc: {},
      facilitator: nowhere,
      tokens: {},
    },
    chains: { evm: new Map(), solana: new Map(), tokens: new Map() },
    stop: async () => {},
  };
}
