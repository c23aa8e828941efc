import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { createGuardedFetch, type GuardedFetch } from "../../runtime/drivers/http/guarded-fetch.ts";
import { isPublicAddress } from "../../runtime/drivers/http/public-address.ts";
import { TLS, trustTestCertificate } from "../surfaces/a2a/served/support/tls.ts";

const HAS_IPV6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ family }) => family === "IPv6"),
);
/** Every address of this machine. */
const ANY = HAS_IPV6 ? "::" : "0.0.0.0";
/** The one address that stands for the public internet here; all others are judged as ever. */
const PUBLIC = "127.0.0.2";
const isAllowed = (address: string): boolean => address === PUBLIC || isPublicAddress(address);
const LIMITS = { timeoutMs: 3000, maxBytes: 1000, redirects: 3 };

/** What an attacker's own name server says. `one.example` is an honest site. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "one.example": [PUBLIC],
  "loopback.example": ["127.0.0.1"],
  "loopback6.example": ["::1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "metadata.example": ["169.254.169.254"],
  "private.example": ["10.0.0.1"],
  "mixed.example": [PUBLIC, "127.0.0.1"],
  "mixed-last.example": ["127.0.0.1", PUBLIC],
  "mixed-families.example": [PUBLIC, "::1"],
  "nothing.example": [],
  "nonsense.example": ["localhost"],
  "127.0.0.1.dns.example": ["127.0.0.1"],
};

/** Ways to write an address in a URL, with `PORT` where the server inside listens. */
const REACHES_INSIDE = [
  "127.0.0.1:PORT",
  "127.1:PORT",
  "127.8.9.10:PORT",
  "0x7f.1:PORT",
  "0x7f000001:PORT",
  "2130706433:PORT",
  "0177.0.0.1:PORT",
  "0177.0x0.0.1:PORT",
  "127.0.0.1.:PORT",
  "127.0.0.1:0PORT",
  "%31%32%37.0.0.1:PORT",
  "①②⑦.⓪.⓪.①:PORT",
  "１２７.0.0.1:PORT",
  "127。0。0。1:PORT",
  "127.0.\t0.1:PORT",
  "0.0.0.0:PORT",
  "0:PORT",
  "localhost:PORT",
  "LOCALHOST:PORT",
  "loopback.example:PORT",
  "127.0.0.1.dns.example:PORT",
  ...(HAS_IPV6 ? ["[::1]:PORT", "[::]:PORT", "[0:0:0:0:0:0:0:1]:PORT", "loopback6.example:PORT"] : []),
  ...(HAS_IPV6 ? ["[::ffff:127.0.0.1]:PORT", "[::ffff:7f00:1]:PORT", "mapped.example:PORT"] : []),
];
const ALSO_NOT_PUBLIC = [
  "[::127.0.0.1]:PORT",
  "[::ffff:0:127.0.0.1]:PORT",
  "[64:ff9b::7f00:1]:PORT",
  "[64:ff9b::8.8.8.8]:PORT",
  "[2002:7f00:1::]:PORT",
  "[2001:0:7f00:1::]:PORT",
  "[fe80::1]:PORT",
  "[fe80::1%25lo]:PORT",
  "[fc00::1]:PORT",
  "[fd00:ec2::254]",
  "[fec0::1]:PORT",
  "[ff02::1]:PORT",
  "[2001:db8::1]:PORT",
  "169.254.169.254",
  "0xa9fea9fe",
  "metadata.example",
  "private.example",
  "10.0.0.1",
  "172.16.0.1",
  "192.168.0.1",
  "100.64.0.1",
  "192.0.0.192",
  "192.0.2.1",
  "198.18.0.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "mixed.example:PORT",
  "mixed-last.example:PORT",
  "mixed-families.example:PORT",
  "nothing.example:PORT",
  "nonsense.example:PORT",
  "one.example@127.0.0.1:PORT",
  "one.example:80@127.0.0.1:PORT",
  "127.0.0.1:PORT#@one.example",
  "127.0.0.1:PORT\\@one.example",
  "one.example:@127.0.0.1:PORT",
  "one.example:65536",
];
/** What no web server is asked for, wherever it is written. */
const NOT_HTTP = [
  "file:///etc/passwd",
  "gopher://127.0.0.1:PORT/_GET%20/",
  "ftp://127.0.0.1:PORT/",
  "dict://127.0.0.1:PORT/",
  "ws://127.0.0.1:PORT/",
  "unix:///var/run/docker.sock",
  "data:text/plain,secret",
  "blob:http://127.0.0.1:PORT/0",
  "javascript:alert(1)",
];

describe("a URL that leads inside", () => {
  const opened: (() => unknown)[] = [];
  /** Connections to the servers inside, of all tests. */
  let inside = 0;
  const ports = { http: 0, https: 0 };
  const sites = { http: 0, https: 0 };
  /** Where the honest site redirects to. */
  let location = "";
  let lookups: string[] = [];

  const listen = async (server: Server, host: string): Promise<number> => {
    await new Promise<void>((done) => server.listen(0, host, done));
    opened.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  };
  const lookup: LookupFunction = (hostname, _options, callback) => {
    lookups.push(hostname);
    const addresses = NAMES[hostname] ?? ["127.0.0.1"];
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) })),
    );
  };
  const open = (options: Parameters<typeof createGuardedFetch>[0]): GuardedFetch => {
    const fetch = createGuardedFetch(options);
    opened.push(() => fetch.close());
    return fetch;
  };
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "fetched",
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );

  let guarded: GuardedFetch;
  before(async () => {
    const secret: RequestListener = (_request, response) => response.end("secret");
    const site: RequestListener = ({ url }, response) =>
      url === "/" ? response.end("public") : response.writeHead(Number(url?.slice(1)), { location }).end();
    ports.http = await listen(createServer(secret).on("connection", count), ANY);
    ports.https = await listen(createTlsServer(TLS, secret).on("connection", count), ANY);
    sites.http = await listen(createServer(site), PUBLIC);
    sites.https = await listen(createTlsServer(TLS, site), PUBLIC);
    opened.push(trustTestCertificate());
    guarded = open({ lookup, isAllowed });
  });
  beforeEach(() => {
    inside = 0;
    lookups = [];
  });
  after(async () => {
    for (const close of opened) await close();
  });
  function count(): void {
    inside += 1;
  }

  for (const scheme of ["http", "https"] as const) {
    const toUrl = (form: string): string => `${scheme}://${form.replace("PORT", String(ports[scheme]))}/`;

    for (const form of [...REACHES_INSIDE, ...ALSO_NOT_PUBLIC])
      it(`is not followed: ${scheme}://${JSON.stringify(form).slice(1, -1)}`, async () => {
        const url = toUrl(form);
        expect(await refusal(guarded.fetch(url, LIMITS))).to.equal("bad-request");
        expect(await refusal(guarded.fetch(url, { ...LIMITS, method: "POST", body: "{}" }))).to.equal("bad-request");
        expect(inside).to.equal(0);
      });

    for (const from of ["http", "https"] as const)
      it(`is not followed when a page over ${from} redirects to it, in any form of ${scheme}`, async () => {
        for (const form of [...REACHES_INSIDE, ...ALSO_NOT_PUBLIC, "one.example@loopback.example:PORT"])
          for (const [status, method] of [
            [302, "GET"],
            [307, "POST"],
          ] as const) {
            location = toUrl(form).replace(/[^ -~]/gu, encodeURIComponent);
            const url = `${from}://one.example:${sites[from]}/${status}`;
            expect(await refusal(guarded.fetch(url, { ...LIMITS, method })), form).to.equal("bad-request");
          }
        expect(inside).to.equal(0);
      });

    it(`is not followed at the second look at a name that was public at the first, over ${scheme}`, async () => {
      let asked = 0;
      const rebinding: LookupFunction = (_hostname, _options, callback) => {
        asked += 1;
        callback(null, [{ address: asked === 1 ? PUBLIC : "127.0.0.1", family: 4 }]);
      };
      const url = `${scheme}://one.example:${sites[scheme]}/`;
      const fetch = open({ lookup: rebinding, isAllowed });
      expect(String((await fetch.fetch(url, LIMITS)).body)).to.equal("public");
      expect(asked).to.equal(1);
      expect(await refusal(fetch.fetch(toUrl("one.example:PORT"), LIMITS))).to.equal("bad-request");
      expect([asked, inside]).to.deep.equal([2, 0]);
    });

    it(`is not followed at the end of a chain of public redirects, over ${scheme}`, async () => {
      const chain: RequestListener = ({ url }, response) => {
        const next = url === "/3" ? toUrl("127.0.0.1:PORT") : `/${Number(url?.slice(1)) + 1}`;
        response.writeHead(301, { location: next }).end();
      };
      const port = await listen(createServer(chain), PUBLIC);
      expect(await refusal(guarded.fetch(`http://one.example:${port}/1`, LIMITS))).to.equal("bad-request");
      expect(inside).to.equal(0);
    });
  }

  for (const form of REACHES_INSIDE)
    it(`would lead inside without the guard: ${JSON.stringify(form).slice(1, -1)}`, async () => {
      const careless = open({ lookup, isAllowed: () => true });
      const { body } = await careless.fetch(`http://${form.replace("PORT", String(ports.http))}/`, LIMITS);
      expect(String(body)).to.equal("secret");
      expect(inside).to.equal(1);
    });

  for (const form of NOT_HTTP)
    it(`is not followed, nor is a redirect to it: ${form}`, async () => {
      location = form.replace("PORT", String(ports.http));
      expect(await refusal(guarded.fetch(location, LIMITS))).to.equal("bad-request");
      expect(lookups).to.deep.equal([]);
      for (const from of ["http", "https"] as const)
        expect(await refusal(guarded.fetch(`${from}://one.example:${sites[from]}/302`, LIMITS))).to.equal(
          "bad-request",
        );
      expect(inside).to.equal(0);
    });

  it("is not followed when a page names it in a header other than Location", async () => {
    const target = `http://127.0.0.1:${ports.http}/`;
    const headers = { refresh: `0;url=${target}`, "content-location": target, link: `<${target}>; rel=preload` };
    const port = await listen(
      createServer((_request, response) => response.writeHead(200, headers).end("public")),
      PUBLIC,
    );
    expect(String((await guarded.fetch(`http://one.example:${port}/`, LIMITS)).body)).to.equal("public");
    expect(inside).to.equal(0);
  });
});
