import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { promisify } from "node:util";
import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { connectMcp, type McpConnection } from "../../../runtime/drivers/mcp/connection.ts";
import type { LiveMcpServer } from "../../../runtime/drivers/mcp/mcp-server.ts";
import { eventually } from "../../support/eventually.ts";
import { problemOf } from "../../support/thrown.ts";
import { closeServers, isRunning, openServer, SIGNAL } from "./program-server.ts";

/** Whether it has ended, and nobody has asked how: an orphan in a container. */
const isZombie = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");

describe("an MCP program that does not end when it is told to", () => {
  afterEach(closeServers);

  const stubborn = [process.execPath, join(import.meta.dirname, "../../support/sources/stubborn-tool-server.ts")];
  const textOf = async (server: LiveMcpServer, tool: string): Promise<string> => {
    const { content } = await server.call(tool, {}, SIGNAL);
    return (content[0] as { text: string }).text;
  };

  function openStubborn(
    timeoutMs: number,
    stepMs = 100_000,
  ): { server: LiveMcpServer; down: Promise<unknown>; lines: string[] } {
    const { promise: down, resolve } = Promise.withResolvers<unknown>();
    const lines: string[] = [];
    const onLine = (line: string): void => void lines.push(line);
    const address = { command: stubborn, env: {}, cwd: import.meta.dirname, onLine };
    const log = { ...silentLog, warn: (_: string, fields?: object) => resolve(fields) };
    const connect = (): Promise<McpConnection> => connectMcp(address, 30_000);
    let now = 1_000_000;
    // Time passes with each look: no pause is waited for.
    const server = openServer({ connect, log, timeoutMs, clock: { now: () => (now += stepMs) } });
    return { server, down, lines };
  }

  it("is ended when it answers nothing any more, started again, and fills no log", async () => {
    const { server, down, lines } = openStubborn(1000);
    const pid = Number(await textOf(server, "self"));
    expect((await problemOf(server.call("hang", {}, SIGNAL))).message).to.equal("Tools took too long");
    expect(await down).to.include({ reason: "it answers nothing" });
    const again = Number(await textOf(server, "self"));
    expect(again).to.not.equal(pid);
    await textOf(server, "shout");
    await server.close();
    expect(lines.length).to.equal(100);
    await eventually(() => ![pid, again].some(isRunning));
  });

  it("is ended so also when the time of each call is up before its own, and when the clock is set back", async () => {
    const { server, down } = openStubborn(1000, -100_000);
    const pid = await textOf(server, "self");
    let reason: unknown;
    void down.then((fields) => {
      reason = fields;
    });
    for (let calls = 0; !reason && calls < 1000; calls++)
      await server.call("hang", {}, AbortSignal.timeout(20)).catch(() => {});
    expect(reason).to.include({ reason: "it answers nothing" });
    expect(await textOf(server, "self")).to.not.equal(pid);
    await server.close();
  });

  it("goes on after results that cannot be read, since other calls may be at work there", async () => {
    const { server } = openStubborn(30_000);
    const pid = await textOf(server, "self");
    for (const tool of ["invent", "defer"]) {
      const { message } = await problemOf(server.call(tool, {}, SIGNAL));
      expect(message, tool).to.equal("Tools's answer does not fit this service");
      expect(await textOf(server, "self"), tool).to.equal(pid);
    }
    process.kill(Number(pid), "SIGKILL"); // Nobody waits for it to end in order.
  });

  it("is heard out when it sends a message of many megabytes, which is copied a few times at most", async () => {
    const { server } = openStubborn(30_000);
    await textOf(server, "self"); // It is connected.
    let copied = 0;
    const concat = Buffer.concat.bind(Buffer);
    mock.method(Buffer, "concat", (chunks: readonly Uint8Array[], length?: number) => {
      const whole = concat(chunks, length);
      copied += whole.length;
      return whole;
    });
    const text = await textOf(server, "much").finally(() => mock.restoreAll());
    expect(text === "€".repeat(5 * 2 ** 20)).to.equal(true);
    expect(copied, "bytes").to.be.below(5 * Buffer.byteLength(text));
    process.kill(Number(await textOf(server, "self")), "SIGKILL"); // Nobody waits for it to end in order.
  });

  it("is ended even when payphone exits without a word", async () => {
    const script = `
      import { connectMcp } from ${JSON.stringify(import.meta.resolve("../../../runtime/drivers/mcp/connection.ts"))};
      const session = await connectMcp({ command: ${JSON.stringify(stubborn)}, env: {}, cwd: "." }, 30_000);
      process.stdout.write(String(session.pid), () => process.exit(1));
    `;
    const args = ["--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, args).catch((error: { stdout: string }) => error);
    const pid = Number(stdout);
    expect(pid).to.be.above(1);
    await eventually(() => !isRunning(pid) || isZombie(pid));
  });

  it("is ended at once when it sends a message without end", async () => {
    const { server, down } = openStubborn(30_000);
    const pid = Number(await textOf(server, "self"));
    expect((await problemOf(server.call("pour", {}, SIGNAL))).code).to.equal("upstream-failed");
    expect(await down).to.include({ reason: "its session ended" });
    expect(isRunning(pid)).to.equal(false);
  });
});
