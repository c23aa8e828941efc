import { createServer, type Server } from "node:http";
import type { Socket } from "node:net";
import { expect } from "chai";
import { createGuardedFetch, type GuardedFetch } from "../../../runtime/drivers/http/guarded-fetch.ts";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { problemOf } from "../../support/thrown.ts";

const LIMITS = { timeoutMs: 30_000, maxBytes: 1000 };

describe("a page's server that closes a kept connection as the next request arrives", () => {
  let server: Server;
  let url: string;
  let asked: string[];
  /** Whether a connection breaks, instead of an answer. */
  let breaks: (socket: Socket) => boolean;
  let web: GuardedFetch;
  beforeEach(async () => {
    const used = new WeakSet();
    asked = [];
    let broken = 0;
    breaks = (socket) => used.has(socket) && ++broken % 2 === 1; // Never two in a row.
    server = createServer(({ method = "", socket }, response) => {
      asked.push(method);
      if (breaks(socket)) return void socket.destroy();
      used.add(socket);
      response.end("{}");
    });
    url = `${await listenOnLoopback(server)}/`;
    web = createGuardedFetch({ isAllowed: () => true });
  });
  afterEach(async () => {
    await web.close();
    await closeServer(server);
  });

  it("is asked again with a GET", async () => {
    for (let fetched = 0; fetched < 6; fetched++) expect((await web.fetch(url, LIMITS)).status).to.equal(200);
    expect(asked.length, "connections that broke").to.be.above(6);
  });

  it("is asked once more at most", async () => {
    breaks = () => true;
    expect((await problemOf(web.fetch(url, LIMITS))).code).to.equal("upstream-failed");
    expect(asked).to.deep.equal(["GET", "GET"]);
  });

  it("is asked once with a POST", async () => {
    breaks = () => true;
    expect((await problemOf(web.fetch(url, { ...LIMITS, method: "POST", body: "{}" }))).code).to.equal(
      "upstream-failed",
    );
    expect(asked).to.deep.equal(["POST"]);
  });
});
