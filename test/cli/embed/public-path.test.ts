import { createServer, type RequestListener } from "node:http";
import { expect } from "chai";
import { openPayphone } from "../../../runtime/cli/embed/embed.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { makeDirectory, TOSS } from "../../core/set/served-directory.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { untilRailsUp } from "../../support/sellers/rails-up.ts";
import { json } from "../../support/sellers/stock-buyer.ts";

const ORIGIN = "https://shop.example.com";
const CALL = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "toss", arguments: {} } };

describe("a shop below a path of a public address", () => {
  it("names nothing above that path in its challenges", async () => {
    const { env } = await sharedSandbox();
    const data = createFolder();
    const shop = openPayphone({
      dir: await makeDirectory(TOSS),
      env: { ...env, PUBLIC_BASE_URL: `${ORIGIN}/paid`, PAYPHONE_DATA_DIR: data, LOG_LEVEL: "error" },
    });
    await shop.start();
    const server = createServer(shop.listener as RequestListener);
    const url = `${await listenOnLoopback(server)}/paid`;
    await untilRailsUp(url);
    for (const [path, body] of [
      ["/v1/toss", {}],
      ["/mcp", CALL],
    ] as const) {
      const challenge = await (await fetch(url + path, json(body))).text();
      const named = challenge.match(/https:\/\/shop\.example\.com[^"\\]*/g) ?? [];
      expect(named).to.include.members([`${ORIGIN}/paid${path}`, `${ORIGIN}/paid/icon.png`]);
      expect(named.filter((one) => !one.startsWith(`${ORIGIN}/paid/`))).to.deep.equal([]);
    }
    await shop.close();
    await closeServer(server);
  });
});
