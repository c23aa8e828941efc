import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { McpConnection } from "../../../runtime/drivers/mcp/connection.ts";
import { createLines } from "../../../runtime/drivers/mcp/lines.ts";
import { createToolServer, type LiveMcpServer } from "../../../runtime/drivers/mcp/mcp-server.ts";
import { toToolOutputs } from "../../../runtime/drivers/mcp/result.ts";
import { createProcessSlots } from "../../../runtime/drivers/mcp/slots.ts";
import { eventually } from "../../support/eventually.ts";
import { problemOf } from "../../support/thrown.ts";
import { closeServers, connectProgram, isRunning, openServer, SIGNAL, USUAL } from "./program-server.ts";

async function selfOf(server: LiveMcpServer): Promise<{ pid: number; env: Record<string, string> }> {
  const { content } = await server.call("show_self", {}, SIGNAL);
  return JSON.parse((content[0] as { text: string }).text);
}

describe("an MCP server over standard input and output", () => {
  let now = 1_000_000;
  const shared = createToolServer({ ...USUAL, connect: connectProgram({ TOOL_KEY: "k" }), clock: { now: () => now } });
  after(() => shared.close());
  afterEach(closeServers);

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
    await eventually(() => !isRunning(again.pid));
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

  it("is asked again soon when it fails after it was well for long, however often it failed before", async () => {
    let now = 1_000_000;
    let isUp = false;
    const well = { call: async () => ({ content: [] }), isAlive: async () => true, tools: async () => ({}) as never };
    const open = (): McpConnection => {
      const { promise: ended, resolve } = Promise.withResolvers<void>();
      const call = async () => (isUp ? well.call() : Promise.reject(new Error("gone")));
      return { ...well, call, name: "", pid: undefined, ended, close: async () => resolve() };
    };
    const connect = () => (isUp ? Promise.resolve(open()) : Promise.reject(new Error("not there")));
    const server = openServer({ slots: undefined, clock: { now: () => now }, connect });
    const waitAfterFailure = async (): Promise<number> => {
      await problemOf(server.call("add", {}, SIGNAL));
      return Number((await problemOf(server.call("add", {}, SIGNAL))).options.retryAfter);
    };
    let longest = 0;
    for (let attempt = 0; attempt < 8; attempt++) {
      longest = await waitAfterFailure();
      now += longest * 1000;
    }
    expect(longest).to.equal(60);
    isUp = true;
    await server.call("add", {}, SIGNAL);
    now += 3_600_000;
    isUp = false;
    await problemOf(server.call("add", {}, SIGNAL)); // Its session is lost.
    expect(await waitAfterFailure()).to.equal(1);
  });

  it("is ended when it takes more memory than it may", async function () {
    if (process.platform !== "linux") this.skip();
    const server = openServer({ memoryBytes: 190 * 2 ** 20 });
    const { pid } = await selfOf(server);
    expect((await problemOf(server.call("hoard", {}, SIGNAL))).code).to.equal("upstream-failed");
    expect(isRunning(pid)).to.equal(false);
  });

  it("makes room for another when too many run, and is not disturbed while it works", async () => {
    const slots = createProcessSlots(1);
    const [one, other] = [openServer({ slots }), openServer({ slots })];
    const { pid } = await selfOf(one);
    const second = await selfOf(other);
    await eventually(() => !isRunning(pid));
    expect(isRunning(second.pid)).to.equal(true);
    const abort = new AbortController();
    const busy = other.call("hoard", {}, abort.signal).catch((error: unknown) => error);
    await sleep(50); // It only has to be sent; either order of the two gives the same refusal.
    const refused = await problemOf(one.call("add", { a: 1, b: 2 }, SIGNAL));
    expect([refused.code, refused.options.retryAfter]).to.deep.equal(["unavailable", 5]);
    abort.abort(new Error("enough"));
    expect(await busy).to.have.property("message", "enough");
  });

  it("makes no room for another while it is being started, as before a payment", async () => {
    const slots = createProcessSlots(1);
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const may = Promise.withResolvers<void>();
    const connect = async () => {
      begin();
      await may.promise;
      return connectProgram()();
    };
    const [one, other] = [openServer({ slots, connect }), openServer({ slots })];
    const ready = one.ready({ tool: "add", input: {} });
    await begun;
    const refused = await problemOf(other.call("add", { a: 1, b: 2 }, SIGNAL).finally(may.resolve));
    expect([refused.code, refused.options.retryAfter]).to.deep.equal(["unavailable", 5]);
    await ready;
    await selfOf(other);
  });

  it("has a hundred lines a minute in the log, and they go on where the clock was set back", () => {
    const clock = { at: 3_600_000 };
    const told: string[] = [];
    const lines = createLines(
      (line) => void told.push(line),
      () => clock.at,
    );
    for (clock.at of [3_600_000, 3_630_000, 0]) lines.add("a line\n".repeat(101));
    expect(told).to.have.length(201);
    expect(told[100]).to.equal("102 further lines were left out");
  });
});
