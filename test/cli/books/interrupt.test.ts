import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { expect } from "chai";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { createFolder } from "../../support/folder.ts";
import { INHERITED } from "../../support/inherited.ts";

describe("payphone books verify", () => {
  it("ends at the first Ctrl+C, however long a node takes to answer: it changes nothing", async () => {
    const data = createFolder();
    await (await openStore({ dataDir: data })).close();
    const node = createServer();
    const env = {
      ...INHERITED,
      PAYPHONE_DATA_DIR: data,
      BASE_RPC_URL: await listenOnLoopback(node),
      BASE_PAYMENT_ADDRESS: "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf",
    };
    const child = spawn(process.execPath, [LAUNCHER, "books", "verify", "--rail", "base"], { env, stdio: "ignore" });
    node.once("request", () => child.kill("SIGINT"));
    expect(await once(child, "exit")).to.deep.equal([null, "SIGINT"]);
    await closeServer(node);
  });
});
