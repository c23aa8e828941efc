import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect } from "chai";
import type { Log } from "../../runtime/api/capabilities.ts";
import { createLog, type LogOptions } from "../../runtime/drivers/log.ts";

const MODULE = import.meta.resolve("../../runtime/drivers/log.ts");

describe("the log", () => {
  let written: string;
  const open = (options: LogOptions = {}): Log => {
    written = "";
    return createLog({ ...options, destination: { write: (line) => (written += line) } });
  };
  const lines = (): Record<string, unknown>[] =>
    written
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));

  it("is one JSON object a line: level, time, event and fields", () => {
    const log = open();
    log.info("a.happened", { n: 1, text: "two\nlines" });
    log.warn("b.happened");
    log.error("c.happened", {});
    expect(lines().map(({ time, ...line }) => [typeof time, line])).to.deep.equal([
      ["string", { level: "info", event: "a.happened", n: 1, text: "two\nlines" }],
      ["string", { level: "warn", event: "b.happened" }],
      ["string", { level: "error", event: "c.happened" }],
    ]);
    expect(Date.parse(lines()[0]?.time as string)).to.be.within(Date.now() - 60_000, Date.now() + 60_000);
  });

  it("is silent below its level", () => {
    const log = open({ level: "error" });
    log.info("a");
    log.warn("b");
    expect(written).to.equal("");
  });

  it("never holds a secret field, however deep", () => {
    const log = open();
    const secrets = {
      authorization: "S-1",
      "x-payment": "S-2",
      "payment-signature": "S-3",
      privateKey: "S-4",
      payload: { signature: "S-5" },
    };
    log.info("a", secrets);
    log.info("b", { list: [{ headers: secrets }] });
    log.info("c", { request: { headers: { ...secrets, kept: "yes" }, at: new Date(0) } });
    expect(written).not.to.include("S-");
    expect(lines()[2]).to.have.nested.property("request.headers.kept", "yes");
    expect(lines()[2]).to.have.nested.property("request.at", "1970-01-01T00:00:00.000Z");
    expect(secrets.authorization, "the caller's object is left alone").to.equal("S-1");
  });

  it("never holds a text that it was told to keep, wherever that stands", () => {
    const key = "0xdeadbeefdeadbeef";
    const url = 'https://rpc.example/v2/k"e\\y';
    const log = open({ secrets: [key, url, ""] });
    log.error("a", {
      note: `the key is ${key}!`,
      error: new Error(`POST ${url} failed`, { cause: new Error(key) }),
      [key]: [key],
    });
    expect(written).not.to.match(/deadbeef|rpc\.example/);
    expect(lines()[0]).to.include({ note: "the key is [removed]!", event: "a" });
  });

  it("tells an error with its causes, and nothing of what libraries hang onto it", () => {
    const cause = Object.assign(new Error("reset"), { code: "ECONNRESET", request: { body: "S-1" } });
    open().error("a", { error: new TypeError("fetch failed", { cause }) });
    const { error } = lines()[0] as { error: Record<string, unknown> };
    expect(error).to.include({ name: "TypeError", message: "fetch failed" });
    expect(error.stack).to.include("log.test.ts");
    expect(error.cause).to.include({ message: "reset", code: "ECONNRESET" });
    expect(written).not.to.include("S-1");
  });

  it("survives errors that cause each other, and what JSON cannot hold", () => {
    const error: Error = new Error("a");
    error.cause = error;
    const circle: { self?: object } = {};
    circle.self = circle;
    const log = open();
    log.error("a", { error });
    log.error("b", { error: "only a text", circle, big: 12n, none: undefined });
    expect(lines()).to.have.length(2);
    expect(lines()[1]).to.include({ error: "only a text" });
  });

  it("writes what it can of a value that throws when it is read", () => {
    const trap = (): never => {
      throw new Error("a trap");
    };
    const hostile = new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap });
    const log = open();
    log.warn("a", { error: hostile, n: 1 });
    log.warn("b", { error: Object.defineProperty(new Error("x"), "stack", { get: trap }), list: [hostile, 2] });
    expect(lines().map(({ time: _, level: __, ...line }) => line)).to.deep.equal([
      { event: "a", error: "[cannot be read]", n: 1 },
      { event: "b", error: "[cannot be read]", list: "[cannot be read]" },
    ]);
  });

  it("cuts the texts of a line that is too long to be written, once it has removed what it was told to keep", () => {
    const key = "0xdeadbeefdeadbeef";
    const log = open({ secrets: [key] });
    const page = "x".repeat(2 ** 14 - 10) + key + "y".repeat(2 ** 20);
    log.error("a", { id: "1", error: new Error("the source answered", { cause: new Error(page) }) });
    log.info("b", { id: "2", list: Array(2 ** 20).fill(1) });
    log.info("c", { text: "✓".repeat(2 ** 19) });
    expect(Buffer.byteLength(written)).to.be.below(2 ** 20);
    expect(written).not.to.include("0xdead");
    const [error, { time: _, ...list } = {}, wide] = lines();
    expect(error).to.have.nested.property("error.message", "the source answered");
    const said = (error as { error: { cause: { message: string } } }).error.cause.message;
    expect(said).to.match(/^x{16374}\[removed\]y… \[\d+ more characters\]$/);
    expect(list).to.deep.equal({ level: "info", id: "2", event: "b", cut: "a line of 2097233 characters" });
    expect(wide?.text).to.match(/^✓{16384}… /);
  });

  it("writes a line about an error of any length to standard output", () => {
    const code = `import { createLog } from ${JSON.stringify(MODULE)};
      createLog().error("a", { error: new Error("x".repeat(${2 ** 21})) });`;
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    expect(JSON.parse(stdout)).to.include({ level: "error", event: "a" });
  });

  it("never holds a secret field of an object that is an error's cause", () => {
    open().error("a", { error: new Error("x", { cause: { status: 401, headers: { authorization: "S-1" } } }) });
    expect(lines()[0]).to.have.nested.property("error.cause.status", 401);
    expect(written).not.to.include("S-1");
  });

  it("waits for nobody who reads it, and is whole once it is read", async () => {
    const code = `import { createLog } from ${JSON.stringify(MODULE)};
      const log = createLog();
      for (let n = 0; n < 300; n += 1) log.info("a", { n, text: "x".repeat(1000) });
      console.error("went on");
      process.stdin.resume();`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
    const gone = once(child, "exit");
    const said = createInterface(child.stderr);
    const heard: string[] = [];
    said.on("line", (line) => heard.push(line));
    while (!heard.includes("went on")) await once(said, "line");
    const read: number[] = [];
    for await (const line of createInterface(child.stdout)) {
      read.push(JSON.parse(line).n);
      if (read.length === 300) child.stdin.end();
    }
    expect(read).to.deep.equal([...Array(300).keys()]);
    expect(heard).to.deep.equal(["payphone: the log cannot be written: its reader does not keep up", "went on"]);
    expect(await gone).to.deep.equal([0, null]);
  });

  if (existsSync("/dev/full"))
    it("fails no call when it cannot be written, and says so once", () => {
      const code = `import { createLog } from ${JSON.stringify(MODULE)};
        const log = createLog();
        for (const event of ["a", "b", "c"]) log.info(event);
        console.error("went on");`;
      const script = '"$0" --input-type=module -e "$1" > /dev/full';
      const { status, stderr } = spawnSync("sh", ["-c", script, process.execPath, code], { encoding: "utf8" });
      expect([status, ...stderr.trim().split("\n")]).to.deep.equal([
        0,
        "payphone: the log cannot be written: ENOSPC: no space left on device, write",
        "went on",
      ]);
    });
});
