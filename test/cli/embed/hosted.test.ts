import { execFile, spawnSync } from "node:child_process";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import express from "express";
import { openPayphone, type Payphone } from "../../../runtime/cli/embed/embed.ts";
import { apply, rollBack } from "../../../runtime/cli/operate/changes.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { createFolder } from "../../support/folder.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { json } from "../../support/sellers/stock-buyer.ts";

const ORIGIN = "https://shop.example.com";
const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "toss", arguments: {} } };

describe("a shop in another server", () => {
  let sandbox: TestSandbox;
  let host: Server;
  let base: string;
  let dir: string;
  let data: string;
  let shop: Payphone;
  beforeEach(async () => {
    [sandbox, dir] = await Promise.all([sharedSandbox(), makeDirectory(TOSS)]);
    data = createFolder();
    host = createServer((request, response) => shop.listener(request, response));
    base = await listenOnLoopback(host);
  });
  afterEach(async () => {
    await shop.close();
    await closeServer(host);
  });

  const open = (env: NodeJS.ProcessEnv = {}): Payphone => {
    const own = { PUBLIC_BASE_URL: base, PAYPHONE_DATA_DIR: data, LOG_LEVEL: "silent" };
    return openPayphone({ dir, env: { ...sandbox.env, ...own, ...env } });
  };

  it("names nothing above the path of its public address in its challenges", async () => {
    shop = open({ PUBLIC_BASE_URL: `${ORIGIN}/paid` });
    await shop.start();
    await untilRailsUp(`${base}/paid`);
    for (const [path, body] of [
      ["/v1/toss", {}],
      ["/mcp", CALL],
    ] as const) {
      const challenge = await (await fetch(`${base}/paid${path}`, json(body))).text();
      const named = challenge.match(/https:\/\/shop\.example\.com[^"\\]*/g) ?? [];
      expect(named).to.include.members([`${ORIGIN}/paid${path}`, `${ORIGIN}/paid/icon.png`]);
      expect(named.filter((one) => !one.startsWith(`${ORIGIN}/paid/`))).to.deep.equal([]);
    }
  });

  it("may have a host of its own by its public address, and lie below a path of the server", async () => {
    const app = express().use("/paid", (request, response) => shop.listener(request, response));
    host.removeAllListeners("request").on("request", app);
    shop = open({ PUBLIC_BASE_URL: ORIGIN });
    await shop.start();
    await untilRailsUp(`${base}/paid`);
    const challenge = await (await fetch(`${base}/paid/v1/toss`, json({}))).text();
    expect(challenge).to.include(`"${ORIGIN}/v1/toss"`);
  });

  it("closes without a wait for a client that has left before the host handed its request on", async () => {
    const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    host.removeAllListeners("request").on("request", (request, response) => {
      response.once("close", () => {
        shop.listener(request, response);
        left.resolve();
      });
      arrived.resolve();
    });
    shop = open();
    await shop.start();
    const leaver = connect(Number(new URL(base).port), "127.0.0.1", () => {
      leaver.write("POST /v1/toss HTTP/1.1\r\nHost: shop\r\nContent-Length: 2\r\n\r\n{}");
    });
    await arrived.promise;
    leaver.destroy();
    await left.promise;
    const waited = sleep(20_000, "still waits", { ref: false });
    expect(await Promise.race([shop.close(), waited])).to.equal(undefined);
  });

  it("sells what it was rolled back to also when its server starts again", async () => {
    const asked = async (): Promise<string | undefined> => {
      await untilRailsUp(base);
      const challenge = await (await fetch(`${base}/v1/toss`, { method: "POST" })).text();
      return /"amount":"(\d+)"/.exec(challenge)?.[1];
    };
    shop = open();
    await shop.start();
    await writeFiles(dir, edit(TOSS, "manifests/toss.yaml", "0.01", "0.90"));
    await apply({ dataDir: data });
    expect(await asked()).to.equal("900000");
    await rollBack({ dataDir: data }, 1);
    await shop.close();
    shop = open();
    await shop.start();
    expect(await asked()).to.equal("10000");
    const { warnings = [] } = (await (await fetch(`${base}/ready`)).json()) as { readonly warnings?: string[] };
    expect(warnings[0]).to.match(/was taken back at/);
  });

  it("is closed when that was said last, also of a start that waits for an earlier close", async () => {
    shop = open();
    await shop.start();
    await Promise.all([shop.close(), shop.start(), shop.close()]);
    expect((await fetch(`${base}/health`)).status).to.equal(503);
  });

  it("says while it starts that it is alive, and lets calls wait until it can be paid", async () => {
    const node = await startRpcProxy(sandbox.env.BASE_RPC_URL as string);
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<"pass">();
    node.intervene(() => {
      asked.resolve();
      return released.promise;
    });
    shop = open({ BASE_RPC_URL: node.url });
    const starting = shop.start();
    await asked.promise;
    const called = fetch(`${base}/v1/toss`, json({}));
    expect((await fetch(`${base}/health`)).status).to.equal(200);
    released.resolve("pass");
    expect((await called).status).to.equal(402);
    await starting;
    await shop.close();
    await node.stop();
  });
});

describe("a shop in another server whose plugin leaves a promise rejected", () => {
  const LEAVES = `import { definePlugin } from "#plugin";
export default definePlugin("toss", () => {
  setTimeout(() => {
    void Promise.reject(new Error("left behind"));
    setTimeout(() => console.log("goes on"), 100);
  }, 100);
  return { toss: () => ({ sides: [] }) };
});
`;
  const module = JSON.stringify(new URL("../../../runtime/cli/embed/embed.ts", import.meta.url).href);

  it("logs that, and leaves the process alive", async () => {
    const dir = await makeDirectory({ ...TOSS, "plugins/toss.ts": LEAVES });
    const own = { PUBLIC_BASE_URL: "http://127.0.0.1:9", PAYPHONE_DATA_DIR: createFolder(), LOG_LEVEL: "error" };
    const env = { ...(await sharedSandbox()).env, ...own };
    const script = `import { openPayphone } from ${module};
      const shop = openPayphone({ dir: ${JSON.stringify(dir)}, env: ${JSON.stringify(env)} });
      await shop.start();
      setTimeout(() => shop.close(), 500);`;
    const args = ["--input-type=module-typescript", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
    expect(stdout)
      .to.include("goes on")
      .and.to.match(/left behind.*"plugin.rejected"/);
  });
});

describe("a server whose promise is rejected while a shop within it tries plugins", () => {
  it("goes on if it listens for that, and ends as ever if not", () => {
    const module = JSON.stringify(new URL("../../../runtime/cli/set/plugins/watch-exit.ts", import.meta.url).href);
    const script = (listener: string): string => `import { setTimeout as sleep } from "node:timers/promises";
      import { collectRejections } from ${module};
      ${listener}
      setTimeout(() => void Promise.reject(new Error("the host's")), 1);
      await collectRejections(() => sleep(50));
      console.log("goes on");`;
    const run = (listener: string) => {
      const args = ["--input-type=module-typescript", "--eval", script(listener)];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", timeout: 60_000 });
      return [status, stdout || /Error: the host's/.exec(stderr)?.[0]];
    };
    expect(run(`process.on("unhandledRejection", ({ message }) => console.log(message));`)).to.deep.equal([
      0,
      "the host's\ngoes on\n",
    ]);
    expect(run(""), "without a listener").to.deep.equal([1, "Error: the host's"]);
  });
});
