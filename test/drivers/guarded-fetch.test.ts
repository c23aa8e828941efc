import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { createGuardedFetch, type GuardedFetch } from "../../runtime/drivers/guarded-fetch.ts";
import { isPublicAddress } from "../../runtime/drivers/guarded-fetch-addresses.ts";
import { TLS, trustTestCertificate } from "../a2a/support/tls.ts";

const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ family }) => family === "IPv6"),
);
/** Every address of this machine. */
const ANY = HAS_IPV6 ? "::" : "0.0.0.0";
const LIMITS = { timeoutMs: 3000, maxBytes: 1000 };

/** Addresses that are nobody's on the public internet, in every clothing. */
const FORBIDDEN = [
  ...["127.0.0.1", "127.8.9.10", "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.254", "169.254.169.254"],
  ...[
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
  ],
  ...["198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
  ...["::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "::ffff:0:127.0.0.1"],
  ...["64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:7f00:1::", "2001:db8::1"],
  ...[
    "2002:7f00:1::",
    "2002:808:808::",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "fe80::1%lo",
  ],
  ...["fec0::1", "ff02::1", "ff0e::1"],
];
const PUBLIC = [
  "8.8.8.8",
  "93.184.216.34",
  "100.63.255.255",
  "172.32.0.1",
  "::ffff:8.8.8.8",
  "2606:4700::1",
  "2a00:1450::1",
];
/** Spellings that URLs turn into addresses. */
const SPELLINGS = [
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.1",
  "0x7f.1",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "①27.0.0.1",
];

describe("a guarded fetch", () => {
  const opened: (() => unknown)[] = [];
  let connections = 0;
  beforeEach(() => {
    connections = 0;
  });
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
  });

  const start = async (
    listener: RequestListener,
    { host = "127.0.0.1", port = 0, tls = false } = {},
  ): Promise<number> => {
    const server: Server = tls ? createTlsServer(TLS, listener) : createServer(listener);
    server.on("connection", () => {
      connections += 1;
    });
    await new Promise<void>((done) => server.listen(port, host, done));
    opened.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const resolveTo =
    (...addresses: string[]): LookupFunction =>
    (_hostname, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
      );
  /** Addresses in 127.0.0.2 … are the test's own public internet; all others are judged as ever. */
  const isAllowed = (address: string): boolean => address === "127.0.0.2" || isPublicAddress(address);
  const create = (lookup?: LookupFunction, allowed?: typeof isAllowed): GuardedFetch => {
    const fetch = createGuardedFetch({ ...(lookup && { lookup }), ...(allowed && { isAllowed: allowed }) });
    opened.push(() => fetch.close());
    return fetch;
  };
  const failure = (work: Promise<unknown>): Promise<Problem> =>
    work.then(
      () => expect.fail("it was fetched"),
      (error: unknown) => {
        expect(error).to.be.instanceOf(Problem);
        return error as Problem;
      },
    );

  it("tells public addresses from all others", () => {
    for (const address of FORBIDDEN) expect(isPublicAddress(address), address).to.equal(false);
    for (const address of PUBLIC) expect(isPublicAddress(address), address).to.equal(true);
    for (const text of ["", "localhost", "1.2.3", "8.8.8.8.8", "::g", "x"])
      expect(isPublicAddress(text), text).to.equal(false);
  });

  for (const scheme of ["http", "https"]) {
    describe(`over ${scheme}`, () => {
      let port: number;
      beforeEach(async () => {
        port = await start((_request, response) => response.end("secret"), { host: ANY, tls: scheme === "https" });
      });

      for (const address of FORBIDDEN) {
        it(`never connects to ${address}`, async () => {
          const literal = address.includes(":") ? `[${address.replace(/%.*/, "")}]` : address;
          const { message } = await failure(create().get(`${scheme}://${literal}:${port}/`, LIMITS));
          expect(message).to.match(/does not resolve to public addresses alone$/);
          expect(connections).to.equal(0);
        });

        it(`never connects to a name that stands for ${address}`, async () => {
          const fetch = create(resolveTo(address));
          const { message } = await failure(fetch.get(`${scheme}://one.example:${port}/`, LIMITS));
          expect(message).to.equal(`one.example:${port} does not resolve to public addresses alone`);
          expect(connections).to.equal(0);
        });
      }

      for (const host of SPELLINGS)
        it(`never connects to ${host}`, async () => {
          await failure(create().get(`${scheme}://${host}:${port}/`, LIMITS));
          expect(connections).to.equal(0);
        });

      it("never connects to localhost, as this machine resolves it", async () => {
        for (const host of ["localhost", "LOCALHOST", "localhost."])
          await failure(create().get(`${scheme}://${host}:${port}/`, LIMITS));
        expect(connections).to.equal(0);
      });

      it("never connects when only some of a name's addresses are public", async () => {
        for (const addresses of [
          ["93.184.216.34", "127.0.0.1"],
          ["127.0.0.1", "93.184.216.34"],
          ["2606:4700::1", "::1"],
        ])
          await failure(create(resolveTo(...addresses)).get(`${scheme}://one.example:${port}/`, LIMITS));
        expect(connections).to.equal(0);
      });

      it("never connects to a name without addresses", async () => {
        await failure(create(resolveTo()).get(`${scheme}://one.example:${port}/`, LIMITS));
        const unknown: LookupFunction = (_hostname, _options, callback) =>
          callback(Object.assign(new Error("unknown"), { code: "ENOTFOUND" }), []);
        const { message } = await failure(create(unknown).get(`${scheme}://one.example:${port}/`, LIMITS));
        expect(message).to.match(/ENOTFOUND/);
        expect(connections).to.equal(0);
      });

      it("connects to the address that it has looked at, and asks for it once", async () => {
        const forget = trustTestCertificate();
        const tls = scheme === "https";
        const port = await start((_request, response) => response.end("secret"), { tls });
        await start((_request, response) => response.end("public"), { host: "127.0.0.2", port, tls });
        let asked = 0;
        const rebinding: LookupFunction = (hostname, options, callback) => {
          asked += 1;
          resolveTo(asked === 1 ? "127.0.0.2" : "127.0.0.1")(hostname, options, callback);
        };
        const { status, body } = await create(rebinding, isAllowed).get(`${scheme}://one.example:${port}/`, LIMITS);
        expect([status, body.toString(), asked]).to.deep.equal([200, "public", 1]);
        forget();
      });

      it("does not follow a redirect, wherever it points", async () => {
        const forget = trustTestCertificate();
        const redirect: RequestListener = (_request, response) =>
          response.writeHead(302, { location: `${scheme}://127.0.0.1:${port}/` }).end();
        const own = await start(redirect, { host: "127.0.0.2", tls: scheme === "https" });
        const { status, headers } = await create(resolveTo("127.0.0.2"), isAllowed).get(
          `${scheme}://one.example:${own}/`,
          LIMITS,
        );
        expect([status, headers.get("location")]).to.deep.equal([302, `${scheme}://127.0.0.1:${port}/`]);
        expect(connections).to.equal(1);
        forget();
      });
    });
  }

  it("takes names from the system's resolver, when it is given no other", async () => {
    const port = await start((_request, response) => response.end("here"));
    const { body } = await create(undefined, () => true).get(`http://localhost:${port}/`, LIMITS);
    expect(body.toString()).to.equal("here");
  });

  it("takes http and https alone", async () => {
    for (const url of [
      "file:///etc/passwd",
      "data:text/plain,a",
      "ftp://one.example/",
      "gopher://one.example",
      "one.example",
      "",
    ])
      expect((await failure(create().get(url, LIMITS))).code).to.equal("bad-request");
  });

  it("trusts no certificate that is another's, or nobody's", async () => {
    const port = await start((_request, response) => response.end("x"), { host: "127.0.0.2", tls: true });
    const fetch = create(resolveTo("127.0.0.2"), isAllowed);
    expect((await failure(fetch.get(`https://one.example:${port}/`, LIMITS))).message).to.match(/SELF_SIGNED/);
    const forget = trustTestCertificate();
    expect((await failure(fetch.get(`https://three.example:${port}/`, LIMITS))).message).to.match(/ALTNAME/);
    forget();
  });

  describe("within its limits", () => {
    const get = async (listener: RequestListener, limits = LIMITS, signal?: AbortSignal) => {
      const port = await start(listener, { host: "127.0.0.2" });
      return create(resolveTo("127.0.0.2"), isAllowed).get(`http://one.example:${port}/`, { ...limits, signal });
    };

    it("sends the headers that it is given, and gives back what was answered", async () => {
      const port = await start(
        (request, response) => response.writeHead(404, { "x-a": "b" }).end(request.headers.accept),
        {
          host: "127.0.0.2",
        },
      );
      const answer = await create(resolveTo("127.0.0.2"), isAllowed).get(`http://one.example:${port}/`, {
        ...LIMITS,
        headers: { accept: "application/json" },
      });
      expect([answer.status, answer.headers.get("x-a"), answer.body.toString()]).to.deep.equal([
        404,
        "b",
        "application/json",
      ]);
    });

    it("takes as many bytes as it may, and not one more", async () => {
      expect((await get((_request, response) => response.end("x".repeat(1000)))).body).to.have.length(1000);
      const { message } = await failure(get((_request, response) => response.end("x".repeat(1001))));
      expect(message).to.equal("The answer is larger than 1000 bytes");
    });

    it("counts bytes after they were decompressed", async () => {
      const bomb = gzipSync(Buffer.alloc(20_000_000));
      expect(bomb.length).to.be.below(30_000);
      const listener: RequestListener = (_request, response) =>
        response.setHeader("content-encoding", "gzip").end(bomb);
      expect((await failure(get(listener, { timeoutMs: 3000, maxBytes: 262_144 }))).message).to.match(
        /larger than 262144/,
      );
    });

    it("waits no longer than it may: for an answer, and for the last of many small pieces", async () => {
      const timers: NodeJS.Timeout[] = [];
      opened.push(() => timers.forEach(clearInterval));
      const drip: RequestListener = (_request, response) => {
        response.writeHead(200);
        timers.push(setInterval(() => response.write("x"), 20));
      };
      for (const listener of [() => {}, drip])
        expect((await failure(get(listener, { timeoutMs: 200, maxBytes: 1000 }))).message).to.match(
          /did not answer in time$/,
        );
    });

    it("stops when its caller does", async () => {
      const gone = new AbortController();
      const listener: RequestListener = () => gone.abort();
      expect((await failure(get(listener, LIMITS, gone.signal))).message).to.match(/cannot be fetched \(AbortError\)/);
    });

    it("says in its own words what went wrong with a server that breaks off or talks nonsense", async () => {
      expect((await failure(get((request) => request.socket.destroy()))).message).to.match(
        /cannot be fetched \(\w+\)$/,
      );
      expect((await failure(get((request) => request.socket.end("I am no server\r\n\r\n")))).message).to.match(
        /^one\.example:\d+ cannot be fetched \(\w+\)$/,
      );
    });
  });
});
