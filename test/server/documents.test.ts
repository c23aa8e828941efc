import { expect } from "chai";
import { createProbes, type ReadyReport } from "../../runtime/server/routes/status.ts";
import { type Door, jsonOf, openDoor } from "../support/http.ts";

describe("a document", () => {
  let door: Door;
  let report: ReadyReport;
  let asked = 0;
  before(async () => {
    door = await openDoor([], {
      documents: new Map([
        ["/openapi.json", { type: "application/openapi+json", body: Buffer.from('{"é":1}') }],
        [
          "/page",
          {
            type: "text/html",
            body: Buffer.from("<p>"),
            headers: { "content-security-policy": "default-src 'self'", Link: "</>" },
          },
        ],
      ]),
      sandbox: { mode: "sandbox" },
      ready: async () => report,
    });
  });
  after(() => door.close({ graceMs: 0 }));
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(door.url + path, { headers });

  it("is sent as it is, with its type, and may be cached by everybody", async () => {
    const response = await get("/openapi.json");
    expect(response.headers.get("content-type")).to.equal("application/openapi+json");
    expect(response.headers.get("cache-control")).to.match(/^public, max-age=\d+$/);
    expect(response.headers.get("content-length")).to.equal("8");
    expect(await response.text()).to.equal('{"é":1}');
  });

  it("may bring headers of its own, instead of the usual ones", async () => {
    const { headers } = await get("/page");
    expect(headers.get("content-security-policy")).to.equal("default-src 'self'");
    expect(headers.get("link")).to.equal("</>");
    expect(headers.get("etag")).to.be.a("string");
  });

  it("is not sent again to who has it", async () => {
    const etag = (await get("/openapi.json")).headers.get("etag") ?? "";
    expect(etag).to.match(/^"[\w-]{43}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await get("/openapi.json", { "if-none-match": known });
      expect(response.status, known).to.equal(304);
      expect(response.headers.get("etag")).to.equal(etag);
      expect(await response.text()).to.equal("");
    }
    for (const other of ['"other"', etag.slice(1, -1), (await get("/page")).headers.get("etag") ?? ""])
      expect((await get("/openapi.json", { "if-none-match": other })).status, other).to.equal(200);
  });

  it("at /health says that this process answers", async () => {
    const response = await get("/health");
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(await response.text()).to.equal('{"status":"ok","service":"payphone"}');
  });

  it("at /ready is the report of now, with 503 only when nothing works", async () => {
    const parts = {
      store: "up" as const,
      rails: [{ id: "base", network: "test:base", state: "down" as const, reason: "The facilitator is silent" }],
      upstreams: [{ id: "prices", state: "up" as const }],
      services: [{ id: "roll", state: "up" as const }],
    };
    for (const [status, code] of [
      ["ready", 200],
      ["degraded", 200],
      ["unavailable", 503],
      ["ready", 200],
    ] as const) {
      report = { status, ...parts };
      const response = await get("/ready");
      expect(response.status).to.equal(code);
      expect(response.headers.get("cache-control")).to.equal("no-store");
      expect(await jsonOf(response)).to.deep.equal(report);
    }
  });

  it("at /ready is made once for probes that meet, and anew for the next", async () => {
    const probe = createProbes("payphone", async () => ({ ...report, asked: ++asked })).get("/ready")?.GET;
    asked = 0;
    const probes = async (): Promise<unknown[]> => {
      const replies = await Promise.all([1, 2, 3].map(() => probe?.({} as never, {} as never)));
      return replies.map((reply) => JSON.parse(String(reply?.body)).asked);
    };
    expect(await probes()).to.deep.equal([1, 1, 1]);
    expect(await probes()).to.deep.equal([2, 2, 2]);
  });

  it("at /sandbox is there only when it is given", async () => {
    expect(await jsonOf(await get("/sandbox"))).to.deep.equal({ mode: "sandbox" });
    const live = await openDoor([]);
    expect((await fetch(`${live.url}/sandbox`)).status).to.equal(404);
    await live.close({ graceMs: 0 });
  });
});
