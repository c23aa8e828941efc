import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type Running, run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../chains/chains.ts";
import { createFolder } from "../folder.ts";
import { untilRailsUp } from "./rails-up.ts";

/** A shop, with its operator's listener. */
export interface OperatedShop {
  running: Running;
  /** The folder with its files. */
  readonly dir: string;
  readonly sandbox: TestSandbox;
  readonly dataDir: string;
  /** Sends a request to ADMIN_PORT with the token. */
  admin(path: string, init?: RequestInit): Promise<Response>;
  /** Sells the folder as the next process does, with these variables besides. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>;
  close(): Promise<void>;
}

export const ADMIN_TOKEN = "a-token-of-a-test-0123456789";

export async function openOperatedShop(
  files: Files = TOSS,
  env: Readonly<Record<string, string>> = {},
): Promise<OperatedShop> {
  const data = createFolder();
  const [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(files)]);
  const own = { PAYPHONE_DATA_DIR: data, PORT: "0", LOG_LEVEL: "silent", ADMIN_PORT: "0", ADMIN_TOKEN };
  const start = async (more: Readonly<Record<string, string>> = {}): Promise<Running> => {
    const config = readConfig({ ...sandbox.env, ...own, ...env, ...more });
    const running = await run({ set: await loadSet(dir), config });
    await untilRailsUp(running.url);
    return running;
  };
  const shop: OperatedShop = {
    running: await start(),
    dir,
    sandbox,
    dataDir: data,
    admin: (path, init = {}) =>
      fetch(shop.running.admin.url + path, {
        ...init,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...init.headers },
      }),
    async restart(more) {
      await shop.running.close();
      shop.running = await start({ PORT: new URL(shop.running.url).port, ...more });
    },
    close: () => shop.running.close(),
  };
  return shop;
}
