import type { Clock } from "../../../runtime/api/capabilities.ts";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { secretsOf } from "../../../runtime/cli/config/secrets.ts";
import { createBookAccess } from "../../../runtime/cli/monitor/book-access.ts";
import { toSandboxSources } from "../../../runtime/cli/sandbox/sources.ts";
import { compose } from "../../../runtime/cli/serve/compose.ts";
import type { Composition, SandboxParts } from "../../../runtime/cli/serve/composition.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createLog } from "../../../runtime/drivers/log.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { openSandbox } from "../../../runtime/sandbox/open-sandbox.ts";
import { openServer } from "../../../runtime/server/listen.ts";
import type { TestSandbox } from "../chains/chains.ts";
import { createFolder } from "../folder.ts";
import { untilRailsUp } from "./rails-up.ts";
import type { SandboxServer } from "./sandbox-server.ts";

/** Everything that `payphone serve` serves, but in the tests' own process, which starts a second faster. */
export interface LocalSeller {
  readonly url: string;
  /** The lines that it has logged. */
  readonly output: () => string;
  stop(): Promise<void>;
}

export interface LocalSellerOptions {
  readonly sandbox: Pick<TestSandbox, "env" | "description">;
  readonly set: ManifestSet;
  /** Overrides of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** Default: where it listens. */
  readonly baseUrl?: string;
  /** Default: one of its own. */
  readonly dataDir?: string;
  /** What is read in place of live sources: it is a sandbox then, for its buyers too. */
  readonly sources?: Pick<SandboxParts, "sources" | "origins">;
}

/** Starts it. @throws Error with the faults of a plugin. */
export async function startLocalSeller(options: LocalSellerOptions): Promise<LocalSeller> {
  const { sandbox, set, env, clock = { now: Date.now }, sources } = options;
  const { description } = sandbox;
  const config = readConfig({ ...sandbox.env, PAYPHONE_DATA_DIR: options.dataDir ?? createFolder(), ...env });
  let output = "";
  const destination = {
    write(line: string) {
      output += line;
    },
  };
  const log = createLog({ level: config.logLevel, secrets: secretsOf(config, set), destination });
  const [server, store] = await Promise.all([
    openServer({ host: "127.0.0.1", port: 0 }),
    openStore({ ...config, log }),
  ]);
  const books = createBookAccess(config);
  const parts = { set, config, baseUrl: options.baseUrl ?? server.url, store, books, clock, log };
  const composition = await compose({ ...parts, sandbox: sources && { description, doors: new Map(), ...sources } });
  if (!("listener" in composition)) throw new Error(JSON.stringify(composition));
  server.attach(composition.listener);
  await (composition as Composition).start();
  await untilRailsUp(server.url);
  return {
    url: server.url,
    output: () => output,
    async stop() {
      await server.close({ graceMs: 0 });
      await composition.close();
      await books.close();
      await store.close();
    },
  };
}

/** What `payphone sandbox` does with a folder, on chains of its own, in the tests' own process. */
export async function startLocalSandbox(dir: string): Promise<SandboxServer> {
  const set = await loadSet(dir);
  const sandbox = await openSandbox({ rails: set.site.rails, dataDir: createFolder(), log: silentLog });
  const sources = toSandboxSources({ set, own: { env: {}, llm: undefined }, sandbox, online: false });
  const seller = await startLocalSeller({ sandbox, set, sources });
  return {
    url: seller.url,
    description: sandbox.description,
    async stop() {
      await seller.stop();
      await sandbox.stop();
    },
  };
}
