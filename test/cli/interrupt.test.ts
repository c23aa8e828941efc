import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { toInterruptListener } from "../../runtime/cli/interrupt.ts";
import { closeServer, listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import { LAUNCHER } from "../support/commands/commands.ts";
import { INHERITED } from "../support/inherited.ts";

describe("an interrupt", () => {
  it("that comes twice at once is one, and each later one is another", () => {
    let now = 0;
    const heard: string[] = [];
    const interrupt = toInterruptListener({
      first: () => heard.push("first"),
      again: () => heard.push("again"),
      nowMs: () => now,
    });
    interrupt();
    now = 900;
    interrupt();
    expect(heard).to.deep.equal(["first"]);
    now = 1100;
    interrupt();
    interrupt();
    expect(heard).to.deep.equal(["first", "again", "again"]);
  });

  it("of a command that waits for a seller is told in a word", async () => {
    const seller = createServer();
    const args = [LAUNCHER, "purchases", "--url", await listenOnLoopback(seller)];
    const child = spawn(process.execPath, args, { env: INHERITED, stdio: ["ignore", "ignore", "pipe"] });
    seller.once("request", () => child.kill("SIGINT"));
    expect([await text(child.stderr), child.exitCode ?? (await once(child, "exit"))[0]]).to.deep.equal([
      "payphone: interrupted\n",
      1,
    ]);
    await closeServer(seller);
  });
});
