import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { eventually } from "../../support/eventually.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";

const BODY = { type: "application/json", content: "{}" };

describe("a connection that an upstream may close as the next request arrives", () => {
  let bench: Bench;
  let server: Server;
  let url: string;
  /** The connection of each request. */
  let sockets: Socket[];
  beforeEach(async () => {
    bench = await openBench();
    sockets = [];
    server = createServer(({ socket }, response) => {
      sockets.push(socket);
      response.end("{}");
    });
    server.keepAliveTimeout = 0; // It closes none, and does not say when it would, as most servers.
    url = await listenOnLoopback(server);
  });
  afterEach(async () => {
    await closeServer(server);
    await bench.close();
  });

  const send = (method: "GET" | "POST", isRepeatable: boolean, retries = 2) =>
    bench
      .open({ url, retries })
      .send(
        { method, path: "/", query: "", headers: {}, ...(method === "POST" && { body: BODY }) },
        { signal: NEVER, maxBytes: 100, isRepeatable },
      );

  it("is let go within seconds of a request that is sent once", async () => {
    const begun = performance.now();
    await send("POST", false);
    await eventually(() => sockets[0]?.destroyed);
    expect(performance.now() - begun).to.be.below(20_000);
  });

  it("is kept for requests that may be repeated, and not used for those that are sent once", async () => {
    await send("GET", true);
    await send("POST", true);
    await send("POST", false);
    await send("GET", true, 0);
    const kept = sockets.slice(0, 2);
    expect(kept.map(({ destroyed }) => destroyed)).to.deep.equal([false, false]);
    for (const socket of sockets.slice(2)) expect(kept).not.to.include(socket);
  });
});
