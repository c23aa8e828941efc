import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, LookupFunction } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { WebAnswer, WebRequest } from "../../../runtime/api/capabilities.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedFetchOptions,
} from "../../../runtime/drivers/http/guarded-fetch.ts";
import { isPublicAddress } from "../../../runtime/drivers/http/public-address.ts";
import { TLS, trustTestCertificate } from "../../surfaces/a2a/served/support/tls.ts";

const LIMITS = { timeoutMs: 30_000, maxBytes: 1000 };

/** Addresses that are not public, in many notations; test/attacks/ssrf.test.ts fetches from them. */
const FORBIDDEN = `
  127.0.0.1 127.8.9.10 0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.254 169.254.169.254 172.16.0.1 172.31.255.255
  192.168.1.1 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255
  240.0.0.1 255.255.255.255 :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:0:127.0.0.1
  64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 2001::1 2001:0:7f00:1:: 2001:db8::1 2002:7f00:1::
  2002:808:808:: 3fff::1 4000::1 5f00::1 fc00::1 fd12::1 fe80::1 fe80::1%lo fec0::1 ff02::1 ff0e::1
  168.63.129.16 ::ffff:168.63.129.16 192.80.8.124 161.26.0.6 166.8.1.1 166.11.255.255 199.36.153.4 199.36.153.11
  100.100.100.200 169.254.0.23 169.254.170.2 fd00:ec2::254 fd20:ce::254 fd00:c1::a9fe:a9fe`;
const PUBLIC =
  "8.8.8.8 93.184.216.34 100.63.255.255 172.32.0.1 168.63.129.17 166.12.0.1 199.36.153.12 ::ffff:8.8.8.8 2606:4700::1 2a00:1450::1";

describe("a guarded fetch", () => {
  const opened: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  const start = async (listener: RequestListener, { host = "127.0.0.2", tls = false } = {}): Promise<number> => {
    const server: Server = tls ? createTlsServer(TLS, listener) : createServer(listener);
    await new Promise<void>((done) => server.listen(0, host, done));
    opened.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const resolveTo =
    (address: string): LookupFunction =>
    (_hostname, _options, callback) =>
      callback(null, [{ address, family: 4 }]);
  /** 127.0.0.2 is the test's own public internet, and every name is there; all other addresses are judged as ever. */
  const isAllowed = (address: string): boolean => address === "127.0.0.2" || isPublicAddress(address);
  const create = (options: GuardedFetchOptions = { lookup: resolveTo("127.0.0.2"), isAllowed }): GuardedFetch => {
    const fetch = createGuardedFetch(options);
    opened.push(() => fetch.close());
    return fetch;
  };
  const get = async (listener: RequestListener, request: Partial<WebRequest> = {}): Promise<WebAnswer> =>
    create().fetch(`http://one.example:${await start(listener)}/`, { ...LIMITS, ...request });
  const failure = (work: Promise<unknown>): Promise<Problem> =>
    work.then(
      () => expect.fail("it was fetched"),
      (error: unknown) => (error instanceof Problem ? error : expect.fail(`not a Problem: ${String(error)}`)),
    );

  it("tells public addresses from all others", () => {
    for (const address of FORBIDDEN.trim().split(/\s+/)) expect(isPublicAddress(address), address).to.equal(false);
    for (const address of PUBLIC.split(" ")) expect(isPublicAddress(address), address).to.equal(true);
    for (const text of ["", "localhost", "1.2.3", "8.8.8.8.8", "::g", "x"])
      expect(isPublicAddress(text), text).to.equal(false);
  });

  it("says of a name that it has no address, or none that is public", async () => {
    const unknown: LookupFunction = (_hostname, _options, callback) =>
      callback(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }), []);
    const none = await failure(create({ lookup: unknown }).fetch("http://one.example/", LIMITS));
    expect([none.code, none.message]).to.deep.equal(["upstream-failed", "one.example cannot be fetched (ENOTFOUND)"]);
    const inside = await failure(create({ lookup: resolveTo("10.0.0.1") }).fetch("http://one.example/", LIMITS));
    expect([inside.code, inside.message]).to.deep.equal([
      "bad-request",
      "one.example leads to an address that is not public; only public addresses are fetched",
    ]);
  });

  it("takes names from the system's resolver, when it is given no other", async () => {
    const port = await start((_request, response) => response.end("here"), { host: "127.0.0.1" });
    const { body } = await create({ isAllowed: () => true }).fetch(`http://localhost:${port}/`, LIMITS);
    expect(String(body)).to.equal("here");
  });

  it("takes URLs of http and https alone, and none with a user name", async () => {
    const urls = ["file:///etc/passwd", "data:text/plain,a", "ftp://one.example/", "one.example", ""];
    for (const url of [...urls, "http://a@one.example/", "https://:b@one.example/"])
      expect((await failure(create().fetch(url, LIMITS))).code, url).to.equal("bad-request");
  });

  it("says that it sends nothing to the ports of other protocols", async () => {
    const { code, message } = await failure(create({ isAllowed: () => true }).fetch("http://one.example:22/", LIMITS));
    expect([code, message]).to.deep.equal([
      "bad-request",
      "one.example:22 is on a port that the Fetch Standard keeps for other protocols",
    ]);
  });

  it("trusts no certificate that is another's, or nobody's", async () => {
    const port = await start((_request, response) => response.end("x"), { tls: true });
    expect((await failure(create().fetch(`https://one.example:${port}/`, LIMITS))).message).to.match(/SELF_SIGNED/);
    opened.push(trustTestCertificate());
    expect((await failure(create().fetch(`https://three.example:${port}/`, LIMITS))).message).to.match(/ALTNAME/);
    expect((await create().fetch(`https://one.example:${port}/`, LIMITS)).status).to.equal(200);
  });

  it("sends what it is given, and gives back what was answered", async () => {
    const echo: RequestListener = async (request, response) =>
      response.writeHead(404, { "x-a": "b" }).end(`${request.method} ${request.headers.accept} ${await text(request)}`);
    const got = await get(echo, { headers: { accept: "text/html" } });
    expect([got.status, got.headers.get("x-a"), String(got.body)]).to.deep.equal([404, "b", "GET text/html "]);
    expect(got.url).to.match(/^http:\/\/one\.example:\d+\/$/);
    const posted = await get(echo, { method: "POST", headers: { accept: "text/html" }, body: "{}" });
    expect(String(posted.body)).to.equal("POST text/html {}");
  });

  describe("that is redirected", () => {
    /** Answers `/<status>/<more>` with a redirect to `/<more>`, and everything else with the request itself. */
    const redirect: RequestListener = async (request, response) => {
      const [, status, more] = /^\/(\d+)(\/.*)/.exec(request.url ?? "") ?? [];
      if (status && more) return response.writeHead(Number(status), { location: more }).end("moved");
      response.end(JSON.stringify({ method: request.method, headers: request.headers, body: await text(request) }));
    };
    const follow = async (path: string, request: Partial<WebRequest>): Promise<WebAnswer> =>
      create().fetch(`http://one.example:${await start(redirect)}${path}`, { ...LIMITS, ...request });

    it("follows as often as it may, and gives back the next redirect as it is", async () => {
      const there = await follow("/301/302/303/end", { redirects: 3 });
      expect([there.status, new URL(there.url).pathname]).to.deep.equal([200, "/end"]);
      const short = await follow("/301/302/303/end", { redirects: 2 });
      expect([short.status, short.headers.get("location"), String(short.body)]).to.deep.equal([303, "/end", "moved"]);
      expect((await follow("/302/end", {})).status, "unless it is told to").to.equal(302);
    });

    it("takes an answer without a new place for what it is", async () => {
      const answer = await get((_request, response) => response.writeHead(302).end("here"), { redirects: 3 });
      expect([answer.status, String(answer.body)]).to.deep.equal([302, "here"]);
      expect((await follow("/304/end", { redirects: 3 })).status).to.equal(304);
    });

    for (const [status, method, body, type] of [
      [301, "GET", "", undefined],
      [302, "GET", "", undefined],
      [303, "GET", "", undefined],
      [307, "POST", "{}", "application/json"],
      [308, "POST", "{}", "application/json"],
    ] as const)
      it(`sends a POST on as a ${method} after ${status}`, async () => {
        const request = { method: "POST", body: "{}", headers: { "content-type": "application/json" } } as const;
        const seen = JSON.parse(String((await follow(`/${status}/end`, { ...request, redirects: 1 })).body));
        expect([seen.method, seen.body, seen.headers["content-type"]]).to.deep.equal([method, body, type]);
      });

    it("tells another origin nothing that was meant for the first", async () => {
      const other = await start(redirect);
      const away: RequestListener = (_request, response) =>
        response.writeHead(302, { location: `http://two.example:${other}/` }).end();
      const headers = { authorization: "Bearer a", cookie: "b=c", accept: "text/html" };
      const seen: { headers: IncomingHttpHeaders } = JSON.parse(
        String((await get(away, { headers, redirects: 1 })).body),
      );
      expect(seen.headers).to.include({ accept: "text/html" }).and.not.to.have.any.keys("authorization", "cookie");
      const kept = await follow("/302/end", { headers, redirects: 1 });
      expect(JSON.parse(String(kept.body)).headers).to.include(headers);
    });

    it("lets go of a redirect that never ends", async () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const endless: RequestListener = (request, response) => {
        if (request.url === "/end") return response.end("there");
        response.once("close", release).writeHead(302, { location: "/end" }).write("moved");
      };
      const { body } = await get(endless, { redirects: 1, timeoutMs: 60_000 }); // Its own end of patience is not what is tested.
      expect(String(body)).to.equal("there");
      await released;
    });

    it("has one stretch of time for all of it", async () => {
      const timers: NodeJS.Timeout[] = [];
      opened.push(() => timers.forEach(clearTimeout));
      const slow: RequestListener = (_request, response) => {
        timers.push(setTimeout(() => response.writeHead(302, { location: "/" }).end(), 150));
      };
      const { message } = await failure(get(slow, { redirects: 1000, timeoutMs: 400 }));
      expect(message).to.match(/did not answer in time$/);
    });
  });

  describe("within its limits", () => {
    it("takes as many bytes as it may, and not one more", async () => {
      expect((await get((_request, response) => response.end("x".repeat(1000)))).body).to.have.length(1000);
      const { code, message } = await failure(get((_request, response) => response.end("x".repeat(1001))));
      expect(code).to.equal("upstream-failed");
      expect(message).to.match(/^one\.example:\d+ answered with more than 1000 bytes$/);
    });

    it("counts bytes after they were decompressed, however often", async () => {
      const bomb = gzipSync(Buffer.alloc(20_000_000));
      expect(bomb.length).to.be.below(30_000);
      for (const [coding, sent] of [
        ["gzip", bomb],
        ["gzip, gzip", gzipSync(bomb)],
      ] as const) {
        const listener: RequestListener = (_request, response) =>
          response.setHeader("content-encoding", coding).end(sent);
        expect((await failure(get(listener, { maxBytes: 262_144 }))).message).to.match(/more than 262144 bytes$/);
      }
    });

    it("waits no longer than it may: for an answer, and for the last of many small pieces", async () => {
      const timers: NodeJS.Timeout[] = [];
      opened.push(() => timers.forEach(clearInterval));
      const drip: RequestListener = (_request, response) => {
        response.writeHead(200);
        timers.push(setInterval(() => response.write("x"), 20));
      };
      const { signal } = new AbortController(); // A patient caller's.
      for (const listener of [() => {}, drip])
        expect((await failure(get(listener, { timeoutMs: 200, signal }))).message).to.match(/did not answer in time$/);
    });

    it("stops when its caller does, for the caller's reason", async () => {
      const gone = new AbortController();
      const reason = new Error("gone");
      const work = get(() => gone.abort(reason), { signal: gone.signal });
      expect(await work.catch((error: unknown) => error)).to.equal(reason);
    });

    it("says in its own words what went wrong with a server that breaks off or talks nonsense", async () => {
      for (const listener of [
        (request) => request.socket.destroy(),
        (request) => request.socket.end("I am no server\r\n\r\n"),
        (_request, response) => response.setHeader("content-encoding", "gzip").end("I am no gzip"),
        async ({ socket }) => {
          socket.write("HTTP/1.1 200 OK\r\n\r\nI am half");
          for (let turn = 0; turn < 20; turn += 1) await setImmediate(); // Until the other end has read it.
          socket.resetAndDestroy();
        },
      ] satisfies RequestListener[])
        expect((await failure(get(listener))).message).to.match(/^one\.example:\d+ cannot be fetched \(\w+\)$/);
    });
  });
});
