import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { type OpenServer, openServer } from "../../runtime/server/listen.ts";
import { speak } from "../support/http.ts";

const MANY = 2000;
const request = (path: string, ...headers: readonly string[]): string =>
  [`GET ${path} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
const many = (): string => Array.from({ length: MANY }, (_, at) => request(`/many/${at}`)).join("");

describe("a connection with many pipelined requests", () => {
  let server: OpenServer;
  let asked: string[];
  beforeEach(async () => {
    server = await openServer({ host: "127.0.0.1", port: 0 });
    asked = [];
  });
  afterEach(() => server.close({ graceMs: 0 }));
  const serve = (listener: RequestListener): void =>
    server.attach((from, response) => {
      asked.push(from.url as string);
      listener(from, response);
    });
  const dial = async (): Promise<Socket> => {
    const socket = connect(server.port, "127.0.0.1");
    socket.on("error", () => undefined).resume();
    await once(socket, "connect");
    return socket;
  };

  it("gets its answers in order", async () => {
    serve(({ url }, response) => void setImmediate(() => response.end(`<${url}>`)));
    const answers = await speak(server.port, many(), request("/last", "Connection: close"));
    const bodies = [...answers.matchAll(/<(.+?)>/g)].map(([, path]) => path);
    expect(bodies).to.deep.equal([...Array.from({ length: MANY }, (_, at) => `/many/${at}`), "/last"]);
  });

  it("gets them also where they have bodies, and take longer than these", async () => {
    const post = (text: string): string =>
      `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
    serve((from, response) => {
      let size = 0;
      from.on("data", (chunk: Buffer) => (size += chunk.length)).on("end", () => response.end(`<${size}>`));
    });
    const sizes = [100_000, 0, 1, 300_000, 7];
    const all = sizes.map((size) => post("x".repeat(size)));
    const answers = await speak(server.port, ...all, request("/", "Connection: close"));
    expect([...answers.matchAll(/<(\d+)>/g)].map(([, size]) => Number(size))).to.deep.equal([...sizes, 0]);
  });

  it("does not keep others waiting", async () => {
    const [greedy, modest] = [await dial(), await dial()];
    const { promise: isServed, resolve } = Promise.withResolvers<void>();
    serve(({ url }, response) => {
      if (asked.length === 1) modest.write(request("/modest"));
      if (url === "/modest") resolve();
      response.end("served");
    });
    greedy.write(many());
    await isServed;
    expect(asked.indexOf("/modest")).to.be.lessThan(MANY / 4);
    for (const socket of [greedy, modest]) socket.destroy();
  });

  for (const [what, behind, answerMs, timeouts] of [
    ["cannot be read", "NONSENSE", 0, {}],
    [
      "does not arrive in time",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n",
      3000,
      { headersMs: 1000, requestMs: 1000 },
    ],
  ] as const)
    it(`gets the answer that is being made, and its end, when what follows ${what}`, async () => {
      const strict = await openServer({ host: "127.0.0.1", port: 0, timeouts });
      strict.attach((_request, response) => void sleep(answerMs).then(() => response.end("<made>")));
      const answers = await speak(strict.port, request("/first") + behind);
      expect(answers).to.match(/^HTTP\/1.1 200 .*Connection: close.*<made>$/s);
      await strict.close({ graceMs: 0 });
    });

  it("tells the call that is being answered that its client is gone, with others behind it", async () => {
    const leaver = await dial();
    const gone = new Promise<void>((resolve) => {
      serve((_request, response) => {
        response.once("close", resolve);
        setImmediate(() => leaver.destroy());
      });
    });
    leaver.write(request("/slow") + request("/behind").repeat(3));
    await gone;
    expect(asked).to.deep.equal(["/slow"]);
  });

  it("has nothing more done once it is gone", async () => {
    const greedy = await dial();
    serve(({ url }, response) => {
      if (url === "/other") response.end("served");
      else greedy.destroy();
    });
    greedy.write(many());
    await once(greedy, "close");
    expect(await speak(server.port, request("/other", "Connection: close"))).to.match(/served$/);
    expect(asked).to.deep.equal(["/many/0", "/other"]);
  });
});
