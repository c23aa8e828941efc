import { type EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { isLoopback, type OpenServer, openServer, type Timeouts } from "../../runtime/server/listen.ts";
import { eventually } from "../support/eventually.ts";
import { jsonOf, speak } from "../support/http.ts";

const OK = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const CONNECT = "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n";

/** Keeps this process from running. */
const pause = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe("a port", () => {
  const opened: OpenServer[] = [];
  const open = async (timeouts: Partial<Timeouts> = {}, host = "127.0.0.1"): Promise<OpenServer> => {
    const server = await openServer({ host, port: 0, timeouts });
    opened.push(server);
    return server;
  };
  afterEach(async () => {
    for (const server of opened.splice(0)) await server.close({ graceMs: 0 });
  });

  it("is known before there is anything to serve, and answers 503 until then", async () => {
    const { url, port, attach } = await open();
    expect(url).to.equal(`http://127.0.0.1:${port}`);
    const early = await fetch(url, { method: "POST", body: "x".repeat(100_000) });
    expect(early.status).to.equal(503);
    expect(early.headers.get("retry-after")).to.equal("1");
    expect((await jsonOf(early)).code).to.equal("unavailable");
    attach((_request, response) => response.end("served"));
    expect(await (await fetch(url)).text()).to.equal("served");
  });

  it("is reached from this machine only on a loopback address, or by its name in any letters", () => {
    for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LocalHost"])
      expect(isLoopback(host), host).to.equal(true);
    for (const host of ["0.0.0.0", "::", "10.0.0.127", "localhost.example"])
      expect(isLoopback(host), host).to.equal(false);
  });

  it("that stands for all interfaces has a URL that works here", async () => {
    const { url, port } = await open({}, "0.0.0.0");
    expect(url).to.equal(`http://127.0.0.1:${port}`);
    expect((await fetch(url)).status).to.equal(503);
  });

  it("that is taken is refused with a sentence that says what to do", async () => {
    const { port } = await open();
    const refusal = await openServer({ host: "127.0.0.1", port }).then(
      () => expect.fail("bound"),
      (error: unknown) => error,
    );
    expect(refusal).to.be.instanceOf(Problem).with.property("code", "unavailable");
    expect((refusal as Problem).message).to.equal(
      `Port ${port} on 127.0.0.1 is in use: stop what uses it, or set PORT (0 = any free port)`,
    );
  });

  it("of another machine is refused with a sentence", async () => {
    const refusal = await openServer({ host: "192.0.2.1", port: 0 }).then(
      () => expect.fail("bound"),
      (error: unknown) => error,
    );
    expect((refusal as Problem).message).to.equal("HOST 192.0.2.1 is no address of this machine");
  });

  it("closes every connection that is too slow with its request, and serves others meanwhile", async () => {
    const { url, port, attach } = await open({ headersMs: 2000, requestMs: 2000 });
    attach((request, response) => request.resume().on("end", () => response.end("served")));
    const beginnings = [
      "",
      "GET / HT",
      "GET / HTTP/1.1\r\nHost: x\r\nA: ",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx",
    ];
    const answers: Promise<string>[] = [];
    for (let n = 0; n < 1000; n++) answers.push(speak(port, beginnings[n % beginnings.length] as string));
    expect(await (await fetch(url)).text()).to.equal("served");
    for (const answer of await Promise.all(answers))
      expect(answer).to.match(/^(HTTP\/1.1 408 Request Timeout\r\n.*"code":"request-timeout"|$)/s);
  });

  it("outlives a client that asks for a proxy and is gone before the answer", async () => {
    let client: Socket | undefined;
    const onRefused = (): void => void client?.resetAndDestroy();
    const server = await openServer({ host: "127.0.0.1", port: 0, onRefused });
    client = connect(server.port, "127.0.0.1");
    client.write(CONNECT);
    await once(client, "close");
    await server.close({ graceMs: 600_000 }); // Ends with the last connection; an error that nothing takes fails this test.
  });

  it("outlives a connection that the system cannot accept, and tells of it", async () => {
    const told: unknown[] = [];
    const onRefused = ({ code }: Problem, reason: unknown): void => void told.push(code, reason);
    const server = await openServer({ host: "127.0.0.1", port: 0, onRefused });
    server.attach(({ socket }, response) => {
      const { server: node } = socket as unknown as { readonly server: EventEmitter };
      node.emit("error", Object.assign(new Error("accept ENOBUFS"), { code: "ENOBUFS" })); // As Node does then.
      response.end("served");
    });
    expect(await (await fetch(server.url)).text()).to.equal("served");
    expect(told).to.deep.equal(["unavailable", "ENOBUFS"]);
    await server.close({ graceMs: 0 });
  });

  it("closes connections that stay idle between requests", async () => {
    const { port, attach } = await open({ keepAliveMs: 50 });
    attach((_request, response) => response.end("served"));
    expect(await speak(port, OK)).to.match(/^HTTP\/1.1 200 .*served$/s);
  });

  it("answers what came on an idle connection while the process was too busy to read it", async () => {
    const server = await open({ keepAliveMs: 20 });
    server.attach((_request, response) => response.end("served"));
    const kept = connect(server.port, "127.0.0.1");
    kept.write(OK);
    await once(kept, "data");
    kept.write(OK);
    pause(1200); // Node adds a second to the time for which connections are kept.
    const [answer] = await once(kept, "data");
    expect(String(answer)).to.match(/^HTTP\/1.1 200 .*served$/s);
    kept.destroy();
  });

  for (const [what, behind] of [
    ["", ""],
    [", and ask for a proxy behind them", CONNECT],
  ] as const)
    it(`closes connections of clients that never read their answers${what}`, async () => {
      const { port, attach } = await open({ silenceMs: 100 });
      attach((_request, response) => void setImmediate().then(() => response.end(Buffer.alloc(50_000_000))));
      const socket = connect(port, "127.0.0.1").pause();
      socket.on("error", () => undefined).write(OK + behind);
      await once(socket, "connect");
      const { promise, resolve } = Promise.withResolvers<void>();
      const poke = setInterval(() => socket.write("x", (error) => error && resolve()), 200);
      await promise;
      clearInterval(poke);
      socket.destroy();
    });

  describe("that is being closed", () => {
    /** Everything that comes until the connection is closed. */
    const textOf = (socket: Socket): Promise<string> => {
      let text = "";
      socket.on("data", (chunk) => (text += chunk)).on("error", () => undefined);
      return once(socket, "close").then(() => text);
    };
    const isRefused = async (port: number): Promise<boolean> => {
      const socket = connect(port, "127.0.0.1");
      const isFree = once(socket, "connect").then(
        () => false,
        () => true,
      );
      return isFree.finally(() => socket.destroy());
    };
    const call = async (
      server: OpenServer,
      behind = "",
    ): Promise<{ socket: Socket; answer: Promise<string>; finish: () => void }> => {
      const started = Promise.withResolvers<() => void>();
      server.attach((_request, response) => started.resolve(() => response.end("finished")));
      const socket = connect(server.port, "127.0.0.1");
      const answer = textOf(socket);
      socket.write(OK + behind);
      return { socket, answer, finish: await started.promise };
    };

    it("accepts nobody new, lets running calls finish and tells them that the connection ends", async () => {
      const server = await open();
      const { answer, finish } = await call(server);
      const closed = server.close({ graceMs: 10_000 });
      await eventually(() => isRefused(server.port));
      finish();
      expect(await answer).to.match(/^HTTP\/1.1 200 .*Connection: close.*finished$/s);
      await closed;
    });

    it("answers what was sent on a kept connection before it was told, as a proxy sends no POST twice", async () => {
      const server = await open();
      server.attach((_request, response) => response.end("served"));
      const kept = connect(server.port, "127.0.0.1");
      kept.write(OK);
      await once(kept, "data");
      const answer = textOf(kept);
      kept.write(OK);
      const closed = server.close({ graceMs: 600_000 });
      expect(await answer).to.match(/^HTTP\/1.1 200 .*Connection: close.*served$/s);
      await closed;
    });

    it("answers what came while the process was too busy to read it", async () => {
      const server = await open({ lingerMs: 20 });
      server.attach((_request, response) => response.end("served"));
      const kept = connect(server.port, "127.0.0.1");
      kept.write(OK);
      await once(kept, "data");
      const answer = textOf(kept);
      const closed = server.close({ graceMs: 600_000 });
      for (let turn = 0; turn < 2; turn += 1) await setImmediate(); // The port is closed now.
      kept.write(OK);
      pause(50);
      expect(await answer).to.match(/^HTTP\/1.1 200 .*Connection: close.*served$/s);
      await closed;
    });

    it("answers on a connection that waits to be accepted", async () => {
      const server = await open();
      server.attach((_request, response) => response.end("served"));
      const waiting = connect(server.port, "127.0.0.1");
      const answer = textOf(waiting);
      waiting.write(OK);
      const closed = server.close({ graceMs: 600_000 });
      expect(await answer).to.match(/^HTTP\/1.1 200 .*Connection: close.*served$/s);
      await closed;
    });

    it("does not wait for connections that ask nothing", async () => {
      const server = await open();
      server.attach((_request, response) => response.end("served"));
      const silent = connect(server.port, "127.0.0.1");
      const idle = connect(server.port, "127.0.0.1");
      idle.write(OK);
      await Promise.all([once(silent, "connect"), once(idle, "data")]);
      const gone = Promise.all([once(silent, "close"), once(idle, "close")]);
      for (const socket of [silent, idle]) socket.on("error", () => undefined).resume();
      await server.close({ graceMs: 600_000 });
      await gone;
    });

    it("cuts what is not finished when the grace is over", async () => {
      for (const behind of ["", CONNECT]) {
        const server = await open();
        const { answer } = await call(server, behind);
        await server.close({ graceMs: 50 });
        expect(await answer).to.equal("");
      }
    });

    it("may be told so twice", async () => {
      const server = await open();
      await Promise.all([server.close({ graceMs: 0 }), server.close({ graceMs: 0 })]);
    });
  });
});
