import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, isIP, type LookupFunction } from "node:net";
import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { createGuardedFetch, type GuardedFetch } from "../../runtime/drivers/http/guarded-fetch.ts";
import { isPublicAddress } from "../../runtime/drivers/http/public-address.ts";
import { TLS, trustTestCertificate } from "../surfaces/a2a/served/support/tls.ts";
import { ALSO_NOT_PUBLIC, ANY, NAMES, NOT_HTTP, PUBLIC, REACHES_INSIDE } from "./support/urls-inside.ts";

const isAllowed = (address: string): boolean => address === PUBLIC || isPublicAddress(address);
const LIMITS = { timeoutMs: 30_000, maxBytes: 1000, redirects: 3 };

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
