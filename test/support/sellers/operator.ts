import { readConfig } from "../../../runtime/cli/config/config.ts";
import { type Running, run } from "../../../runtime/cli/serve/run.ts";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { type Files, makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../chains/chains.ts";
import { createFolder } from "../folder.ts";
import { untilRailsUp } from "./rails-up.ts";

/** A shop, with its operator's listener. */
export interface OperatedShop {
  readonly running: Running;
  /** The folder with its files. */
  readonly dir: string;
  readonly sandbox: TestSandbox;
  readonly dataDir: string;
  /** Sends a request to ADMIN_PORT with the token. */
  admin(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
}

export const ADMIN_TOKEN = "a-token-of-a-test-0123456789";

export async function openOperatedShop(
  files: Files = TOSS,
  env: Readonly<Record<string, string>> = {},
): Promise<OperatedShop> {
  const data = createFolder();
  const [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(files)]);
  const config = readConfig({
    ...sandbox.env,
    PAYPHONE_DATA_DIR: data,
    PORT: "0",
    LOG_LEVEL: "silent",
    ADMIN_PORT: "0",
    ADMIN_TOKEN,
    ...env,
  });
  const running = await run({ set: await loadSet(dir), config });
  await untilRailsUp(running.url);
  return {
    running,
    dir,
    sandbox,
    dataDir: data,
    admin: (path, init = {}) =>
      fetch(running.admin.url + path, {
        ...init,
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, ...init.headers },
      }),
    async close() {
      await running.close();
    },
  };
}
