import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { mock } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { connectMcp, type McpConnection } from "../../../runtime/drivers/mcp/connection.ts";
import {
  createToolServer,
  type LiveMcpServer,
  type ToolServerOptions,
} from "../../../runtime/drivers/mcp/mcp-server.ts";
import { toToolOutputs } from "../../../runtime/drivers/mcp/result.ts";
import { createProcessSlots } from "../../../runtime/drivers/mcp/slots.ts";
import { eventually } from "../../support/eventually.ts";
import { problemOf } from "../../support/thrown.ts";

const PROGRAM = [process.execPath, join(import.meta.dirname, "../../support/sources/tool-server.ts")];
const SIGNAL = new AbortController().signal;

const connectProgram =
  (env: Readonly<Record<string, string>> = {}) =>
  (): Promise<McpConnection> =>
    connectMcp({ command: PROGRAM, env, cwd: import.meta.dirname }, 30_000);

const open: LiveMcpServer[] = [];

const USUAL: ToolServerOptions = {
  id: "tools",
  title: "Tools",
  connect: connectProgram(),
  unset: "",
  timeoutMs: 30_000,
  calls: 4,
  memoryBytes: 2 ** 40,
  repeatsCredential: () => false,
  slots: createProcessSlots(4),
  clock: { now: Date.now },
  log: silentLog,
};

function openServer(options: Partial<ToolServerOptions> = {}): LiveMcpServer {
  const server = createToolServer({ ...USUAL, ...options });
  open.push(server);
  return server;
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Whether it has ended, and nobody has asked how: an orphan in a container. */
const isZombie = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");

async function selfOf(server: LiveMcpServer): Promise<{ pid: number; env: Record<string, string> }> {
  const { content } = await server.call("show_self", {}, SIGNAL);
  return JSON.parse((content[0] as { text: string }).text);
}

describe("an MCP server over standard input and output", () => {
  let now = 1_000_000;
  const shared = createToolServer({ ...USUAL, connect: connectProgram({ TOOL_KEY: "k" }), clock: { now: () => now } });
  after(() => shared.close());
  afterEach(async () => {
    for (const server of open.splice(0)) await server.close();
  });

  it("is started by the first call, and shared by all, with the variables that are named, PATH, and no others", async () => {
    const [first, second] = await Promise.all([selfOf(shared), selfOf(shared)]);
    expect(second.pid).to.equal(first.pid);
    const own = Object.keys(first.env).filter((name) => !name.startsWith("__"));
    expect(own).to.have.members(["PATH", "TOOL_KEY"]);
  });

  it("gives structured content, then blocks, and a tool's own words when it failed", async () => {
    const sum = toToolOutputs(await shared.call("add", { a: 1, b: 2 }, SIGNAL), "Tools", true);
    expect(sum[0]).to.deep.equal({ sum: 3 });
    const [drawn = {}] = toToolOutputs(await shared.call("draw", {}, SIGNAL), "Tools", true);
    expect((drawn.content as { type: string }[]).map(({ type }) => type)).to.deep.equal(["text", "image", "resource"]);
    const refused = await shared.call("refuse", {}, SIGNAL);
    expect(() => toToolOutputs(refused, "Tools", true)).to.throw(Problem, /^Tools: The moon is not full$/);
  });

  it("keeps its session after an error of the protocol", async () => {
    const { pid } = await selfOf(shared);
    expect((await problemOf(shared.call("nobody", {}, SIGNAL))).code).to.equal("upstream-failed");
    expect((await selfOf(shared)).pid).to.equal(pid);
  });

  it("is started again after it has ended by itself, but not at once, and ended with payphone", async () => {
    const { pid } = await selfOf(shared);
    expect((await problemOf(shared.call("crash", {}, SIGNAL))).code).to.equal("upstream-failed");
    const paused = await problemOf(shared.call("add", { a: 1, b: 2 }, SIGNAL));
    expect([paused.code, paused.options.retryAfter]).to.deep.equal(["unavailable", 1]);
    expect(shared.outage()).to.equal("Tools has failed and is not asked for a while");
    now += 1000;
    expect(shared.outage()).to.equal(undefined);
    const again = await selfOf(shared);
    expect(again.pid).not.to.equal(pid);
    await shared.close();
    expect(isRunning(again.pid)).to.equal(false);
    expect((await problemOf(shared.call("add", { a: 1, b: 2 }, SIGNAL))).code).to.equal("unavailable");
  });

  it("is left alone for longer after each failure to start", async () => {
    let now = 1_000_000;
    const server = openServer({
      clock: { now: () => now },
      connect: () => Promise.reject(new Error("no such program")),
    });
    const waits: unknown[] = [];
    for (let attempt = 0; attempt < 4; attempt++) {
      expect((await problemOf(server.call("add", {}, SIGNAL))).code).to.equal("upstream-failed");
      const { options } = await problemOf(server.call("add", {}, SIGNAL));
      waits.push(options.retryAfter);
      now += Number(options.retryAfter) * 1000;
    }
    expect(waits).to.deep.equal([1, 1, 2, 4]);
  });

  it("is ended when it takes more memory than it may", async function () {
    if (process.platform !== "linux") this.skip();
    const server = openServer({ memoryBytes: 190 * 2 ** 20 });
    const { pid } = await selfOf(server);
    expect((await problemOf(server.call("hoard", {}, SIGNAL))).code).to.equal("upstream-failed");
    expect(isRunning(pid)).to.equal(false);
  });

  describe("that does not end when it is told to", () => {
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
      expect([pid, again].map(isRunning)).to.deep.equal([false, false]);
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

  it("makes room for another when too many run, and is not disturbed while it works", async () => {
    const slots = createProcessSlots(1);
    const [one, other] = [openServer({ slots }), openServer({ slots })];
    const { pid } = await selfOf(one);
    const second = await selfOf(other);
    expect([isRunning(pid), isRunning(second.pid)]).to.deep.equal([false, true]);
    const abort = new AbortController();
    const busy = other.call("hoard", {}, abort.signal).catch((error: unknown) => error);
    await sleep(50); // It only has to be sent; either order of the two gives the same refusal.
    const refused = await problemOf(one.call("add", { a: 1, b: 2 }, SIGNAL));
    expect([refused.code, refused.options.retryAfter]).to.deep.equal(["unavailable", 5]);
    abort.abort(new Error("enough"));
    expect(await busy).to.have.property("message", "enough");
  });
});
