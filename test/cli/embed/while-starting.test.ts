import { createServer } from "node:http";
import { expect } from "chai";
import { openPayphone } from "../../../runtime/cli/embed/embed.ts";
import { listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { createFolder } from "../../support/folder.ts";
import { json } from "../../support/sellers/stock-buyer.ts";

describe("a shop in another server, while it starts", () => {
  it("says that it is alive, and lets calls wait until it can be paid", async () => {
    const sandbox = await sharedSandbox();
    const node = await startRpcProxy(sandbox.env.BASE_RPC_URL as string);
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<"pass">();
    node.intervene(() => {
      asked.resolve();
      return released.promise;
    });
    const host = createServer((request, response) => shop.listener(request, response));
    const base = await listenOnLoopback(host);
    const data = createFolder();
    const env = { ...sandbox.env, BASE_RPC_URL: node.url, PUBLIC_BASE_URL: base, PAYPHONE_DATA_DIR: data };
    const shop = openPayphone({ dir: await makeDirectory(TOSS), env: { ...env, LOG_LEVEL: "error" } });
    const starting = shop.start();
    await asked.promise;
    const called = fetch(`${base}/v1/toss`, json({}));
    expect((await fetch(`${base}/health`)).status).to.equal(200);
    released.resolve("pass");
    expect((await called).status).to.equal(402);
    await starting;
    await shop.close();
    await Promise.all([node.stop(), new Promise((done) => host.close(done))]);
  });
});
