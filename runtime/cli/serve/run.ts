import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import closeWithGrace from "close-with-grace";
import { Problem } from "../../api/problem.ts";
import type { Fault } from "../../core/set/faults.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { createLog } from "../../drivers/log.ts";
import { toKeyText } from "../../drivers/peers/identity-keys.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { openServer } from "../../server/listen.ts";
import type { Config } from "../config/config.ts";
import { toReport } from "../set/check.ts";
import type { ManifestSet } from "../set/load.ts";
import { type Composition, compose, type SandboxParts } from "./compose.ts";

export interface RunOptions {
  readonly set: ManifestSet;
  readonly config: Config;
  readonly sandbox?: SandboxParts | undefined;
}

/** A server that is answering. */
export interface Running {
  /** Where it listens; the public base URL may be another. */
  readonly url: string;
  readonly baseUrl: string;
  readonly services: Composition["services"];
  /** Stops accepting, lets calls finish, writes everything down, and closes what was opened, in this order. */
  close(): Promise<void>;
}

/** Calls in flight may take as long as their deadline, and a settlement after it. */
const GRACE_MS = 60_000;
/** Whoever has waited is answered before the chains' libraries are loaded, which nothing can interrupt for 100 ms. */
const BREATH_MS = 10;

/** Brings a checked set up. @throws Problem `bad-request` with one line for each fault of a plugin; `unavailable`. */
export async function run({ set, config, sandbox }: RunOptions): Promise<Running> {
  const log = createLog({ level: config.logLevel, secrets: secretsOf(config, set.site) });
  const clock = { now: Date.now };
  await using opening = new AsyncDisposableStack();
  const server = await openServer({ host: config.host, port: config.port });
  opening.defer(() => server.close({ graceMs: GRACE_MS }));
  const store = await openStore(config);
  opening.defer(() => store.close());
  const baseUrl = config.publicBaseUrl ?? server.url;
  const composition = await compose({ set, config, baseUrl, store, clock, log, sandbox });
  if (!("listener" in composition)) throw toProblem(composition);
  opening.defer(() => composition.close());
  server.attach(composition.listener); // Health is answered at once; what is sold, as soon as its rails are known.
  await sleep(BREATH_MS);
  await composition.start();
  flushCompileCache(); // Also for a process that will be killed.
  const open = opening.move();
  return {
    url: server.url,
    baseUrl,
    services: composition.services,
    async close() {
      await server.close({ graceMs: GRACE_MS }); // First of all, while everything that calls need is open.
      await open.disposeAsync();
    },
  };
}

/** Keeps a server up until it is told to stop, or until something is thrown that nobody caught. */
export function closeOnSignal(close: () => Promise<void>): void {
  closeWithGrace({ delay: GRACE_MS + 10_000, logger: false }, async ({ err }) => {
    if (err) console.error(err);
    await close();
  });
}

/** A set with faults, as the error that ends a command. */
export const toProblem = (faults: readonly Fault[]): Problem => new Problem("bad-request", toReport(faults));

function secretsOf(
  { treasury, redisUrl, facilitator, buyer, identityKeys, llm, env }: Config,
  { rails, upstreams = [] }: SiteManifest,
): string[] {
  const keys = [treasury.evmKey, treasury.solanaKey, buyer.evmKey, buyer.solanaKey, facilitator.cdp?.keySecret];
  const identity = env.A2A_IDENTITY_KEY?.split(",").map((part) => part.trim()) ?? [];
  const variables = [...rails.map(({ rpc }) => rpc), ...upstreams.flatMap((one) => [one.variable, one.key?.variable])];
  const sources = [...variables, "LLM_BASE_URL"].map((name) => name && env[name]); // Providers' URLs may hold their keys.
  return [
    ...keys,
    ...identity,
    ...(identityKeys ?? []).map(toKeyText),
    ...sources,
    redisUrl,
    llm?.apiKey,
    ...Object.values(facilitator.headers),
  ].filter((secret) => secret !== undefined);
}
