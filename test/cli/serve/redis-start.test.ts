import { execFile } from "node:child_process";
import { expect } from "chai";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";
import { withRedis } from "../../support/programs.ts";
import { startRedis, type TestRedis } from "../../support/store/redis.ts";
import { type RedisProxy, startRedisProxy } from "../../support/store/redis-proxy.ts";

const LAUNCHER = `${import.meta.dirname}/../../../runtime/cli/payphone.js`;
/** Longer than any start, and shorter than the test may take. */
const PATIENCE_MS = 60_000;

withRedis.describe("a server whose Redis leaves while it starts", () => {
  let redis: TestRedis;
  let proxy: RedisProxy;
  before(async () => {
    redis = await startRedis();
    proxy = await startRedisProxy(redis.url);
  });
  after(async () => {
    await proxy.stop();
    await redis.stop();
  });

  for (const [what, prefix] of [
    ["before anything else is open", "payphone::shop"],
    ["when its identity is read", "payphone::a2a"],
  ] as const)
    it(`says so and ends, ${what}`, async () => {
      const { env } = await sharedSandbox();
      const dir = await makeDirectory(toShop([]));
      proxy.intervene(([, key]) => (key?.startsWith(prefix) ? "refuse" : "pass"));
      const own = {
        ...INHERITED,
        PORT: "0",
        PAYPHONE_DATA_DIR: createFolder(),
        REDIS_URL: proxy.url,
      };
      const ended = await new Promise<{ code: unknown; signal: unknown; text: string }>((resolve) => {
        const options = { env: { ...env, ...own, PUBLIC_BASE_URL: "http://127.0.0.1:1" }, timeout: PATIENCE_MS };
        execFile(process.execPath, [LAUNCHER, "serve", "--dir", dir], options, (error, _out, text) => {
          resolve({ code: error?.code, signal: error?.signal, text });
        });
      });
      expect(ended.signal, "it ends by itself").to.equal(null);
      expect(ended.code).to.equal(1);
      expect(ended.text).to.match(/^payphone: (The store cannot be reached|Redis was away)/m);
    });
});
