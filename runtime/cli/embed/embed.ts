/** payphone as a part of another server; the package's main module. */
import type { RequestListener } from "node:http";
import { resolve } from "node:path";
import packageJson from "../../../package.json" with { type: "json" };
import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createTurns } from "../../core/time/turns.ts";
import { createLog } from "../../drivers/log.ts";
import { examineConfig, lackedBy, loadEnv, readShopVariables, toDataDir } from "../config/config.ts";
import { findShop, toShop } from "../config/shop.ts";
import { type Running, run } from "../serve/run.ts";
import { chooseSet, refuseFaults } from "../serve/serve.ts";
import type { ManifestSet } from "../set/load.ts";
import { watchRejections } from "../set/plugins/watch-exit.ts";
import { createHostLog } from "./host-log.ts";
import { createHostServer } from "./host-server.ts";

/** A shop within another server. */
export interface Payphone {
  /**
   * Serves all requests below the path of PUBLIC_BASE_URL: `app.use("/paid", payphone.listener)` in Express, or called
   * from a `node:http` listener. It must receive the request with an unread body. Answers 503 before `start` and
   * after `close`; while the shop starts, calls wait for 10 s at most.
   */
  readonly listener: RequestListener;
  /**
   * Checks the shop and begins to sell for real money, as `payphone serve --strict` does.
   * @throws Error (Problem `bad-request`) with every fault of the set, its plugins and the environment.
   */
  start(): Promise<void>;
  /**
   * Lets calls finish, then closes everything. A start that goes on ends first, and resolves. Handling signals is up to
   * the host.
   */
  close(): Promise<void>;
}

/** Where the shop is, and what the host provides. */
export interface PayphoneOptions {
  /** The folder with `manifests/`. Default: the nearest one, from the current folder upwards. */
  readonly dir?: string;
  /**
   * The variables of `payphone serve`. Default: this process's environment; variables that are not set come from the
   * shop's `.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives payphone's log, without secrets. Default: lines of JSON on standard output. */
  readonly log?: Log;
}

/**
 * Opens a shop whose requests another server receives. Nothing is read or connected before `start`.
 * @throws Error (Problem `bad-request`) on a Node that is older than `engines` allows.
 */
export function openPayphone(options: PayphoneOptions = {}): Payphone {
  refuseOldNode();
  const { listener, server } = createHostServer();
  const inTurn = createTurns();
  let running: Running | undefined;
  return {
    listener,
    start: () =>
      inTurn(async () => {
        running ??= await begin(options, server); // One that fails closes what it has opened.
      }),
    close: () =>
      inTurn(async () => {
        const ended = running;
        running = undefined;
        await ended?.close();
      }),
  };
}

/** The launcher does so for commands: an older Node would sell, and lose sales. */
function refuseOldNode(): void {
  const { node } = process.versions;
  const needed = packageJson.engines.node.match(/\d+\.\d+/g) ?? [];
  const isOld = (least: string): boolean => node.localeCompare(least, "en", { numeric: true }) < 0;
  const own = needed.find((least) => Number.parseInt(least, 10) === Number.parseInt(node, 10));
  if (isOld(own ?? needed.at(-1) ?? ""))
    throw new Problem("bad-request", `payphone needs Node ${needed.join(", ")} or newer, and this is Node ${node}`);
}

async function begin(
  { dir: given = findShop(), env: own, log }: PayphoneOptions,
  server: ReturnType<typeof createHostServer>["server"],
): Promise<Running> {
  const dir = resolve(toShop(given, "give { dir }"));
  const variables = own ?? loadEnv();
  const file = own ? {} : readShopVariables(dir);
  const dataDir = variables.PAYPHONE_DATA_DIR?.trim() || toDataDir(dir, file);
  const env = { ...variables, ...lackedBy(variables, file), PAYPHONE_DATA_DIR: dataDir };
  const { config, faults } = examineConfig(env);
  const { set, folder, note } = await chooseSet({ dir, config, isKnown: false, strict: true, asSold: false });
  await refuseFaults(set, config, { malformed: faults });
  const examine = (next: ManifestSet): Promise<void> => refuseFaults(next, config, { triesPlugins: true });
  const shown = log ? createHostLog(log, config.logLevel) : createLog({ level: config.logLevel });
  using opening = new DisposableStack();
  opening.use(watchRejections((error) => shown.error("plugin.rejected", { error })));
  const running = await run({ set, folder, config, server, note, examine, log: shown });
  const watching = opening.move();
  const close = async (): Promise<void> => {
    await running.close();
    watching.dispose();
  };
  return { ...running, close };
}
