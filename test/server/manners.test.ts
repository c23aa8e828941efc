import { expect } from "chai";
import { type Door, decodeHeader, jsonOf, openDoor, SITE, speak, toService } from "../support/http.ts";

const SERVICES = [
  toService({ id: "roll", route: "POST /v1/roll", price: "0.001" }),
  toService({ id: "screen", route: "POST /v1/screen", aliases: ["GET /v1/screen"], price: "0.02" }),
];
const listed = (text: string | null): string[] => (text ?? "").toLowerCase().split(/\s*,\s*/);

describe("an answer to anybody", () => {
  let door: Door;
  before(async () => {
    door = await openDoor(SERVICES);
  });
  after(() => door.close({ graceMs: 0 }));

  const everywhere = ["/", "/health", "/ready", "/v1/screen", "/v1/nothing", "/v1/roll"];

  it("may be read from any origin, with the headers that payments need", async () => {
    for (const path of everywhere) {
      const { headers } = await fetch(door.url + path, { headers: { origin: "https://agent.example" } });
      expect(headers.get("access-control-allow-origin"), path).to.equal("*");
      expect(listed(headers.get("access-control-expose-headers")), path).to.include.members([
        "payment-required",
        "payment-response",
        "x-payment-response",
        "x-request-id",
        "retry-after",
        "link",
      ]);
    }
  });

  it("lets browsers send everything that payments and the other doors need, and remember it", async () => {
    const asked = [
      "content-type",
      "payment-signature",
      "x-payment",
      "access-control-expose-headers",
      "authorization",
      "mcp-protocol-version",
      "Mcp-Param-Region",
      "a2a-version",
      "a2a-extensions",
      "x-a2a-exchange",
      "x-a2a-extensions",
      "x-request-id",
      "accept-payment",
      "traceparent",
      "tracestate",
      "baggage",
    ];
    const response = await fetch(`${door.url}/v1/roll`, {
      method: "OPTIONS",
      headers: { "access-control-request-headers": `${asked.join(", ")}, x-strange, mcp-<b>` },
    });
    expect(response.status).to.equal(204);
    expect(response.headers.get("allow")).to.equal("POST, OPTIONS");
    expect(listed(response.headers.get("access-control-allow-methods"))).to.deep.equal(["post", "options"]);
    const allowed = listed(response.headers.get("access-control-allow-headers"));
    expect(allowed).to.include.members(asked.map((name) => name.toLowerCase()));
    expect(allowed).not.to.include.members(["x-strange"]);
    expect(allowed.join()).not.to.include("<");
    expect(Number(response.headers.get("access-control-max-age"))).to.be.at.least(600);
    expect(response.headers.get("vary")).to.equal("Access-Control-Request-Headers");
    expect(await response.text()).to.equal("");
  });

  it("to OPTIONS tells the methods of every path, and of the server as a whole", async () => {
    const answer = async (path: string): Promise<string | null> =>
      (await fetch(door.url + path, { method: "OPTIONS" })).headers.get("allow");
    expect(await answer("/v1/screen")).to.equal("GET, HEAD, POST, OPTIONS");
    expect(await answer("/health")).to.equal("GET, HEAD, OPTIONS");
    expect(await speak(door.port, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")).to.match(
      /^HTTP\/1.1 204 .*Allow: GET, HEAD, POST, OPTIONS/s,
    );
  });

  it("to HEAD has the headers of GET and no body, everywhere", async () => {
    for (const path of everywhere) {
      const [get, head] = await Promise.all(["GET", "HEAD"].map((method) => fetch(door.url + path, { method })));
      expect(head?.status, path).to.equal(get?.status);
      for (const name of ["content-type", "etag", "allow", "cache-control"])
        expect(head?.headers.get(name), path).to.equal(get?.headers.get(name));
      expect(await head?.text()).to.equal("");
    }
  });

  it("bears the caller's request id when it is sane, otherwise a new one", async () => {
    const answered = async (id: string): Promise<string | null> =>
      (await fetch(`${door.url}/v1/screen`, { headers: { "x-request-id": id } })).headers.get("x-request-id");
    for (const id of ["a", "A-z_0.9", "x".repeat(64)]) expect(await answered(id)).to.equal(id);
    const made = await Promise.all(["", "x".repeat(65), "a b", "<script>", 'a"b', "a,b"].map(answered));
    for (const id of made) expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(made).size).to.equal(made.length);
  });

  it("says nothing of what it is made with, and keeps browsers from misreading it", async () => {
    for (const path of everywhere) {
      const { headers } = await fetch(door.url + path);
      for (const name of ["x-powered-by", "server"]) expect(headers.get(name), name).to.equal(null);
      expect(headers.get("x-content-type-options")).to.equal("nosniff");
      expect(headers.get("x-frame-options")).to.equal("DENY");
      expect(headers.get("content-security-policy")).to.equal("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get("strict-transport-security")).to.equal(null);
    }
  });

  it("asks for HTTPS where the site has it", async () => {
    const secure = await openDoor(SERVICES, { site: { ...SITE, baseUrl: "https://payphone.example" } });
    const { headers } = await fetch(`${secure.url}/v1/screen`);
    expect(headers.get("strict-transport-security")).to.match(/^max-age=\d+/);
    expect(decodeHeader(headers.get("payment-required"))).to.have.nested.property(
      "resource.url",
      "https://payphone.example/v1/screen",
    );
    await secure.close({ graceMs: 0 });
  });

  it("stays one answer a request on a connection that is kept alive", async () => {
    const head = "POST /v1/roll HTTP/1.1\r\nHost: x\r\n";
    const answers = await speak(
      door.port,
      `${head}Content-Length: 2\r\n\r\n{}${head}\r\n${head}Connection: close\r\n\r\n`,
    );
    expect(answers.match(/HTTP\/1.1 \d+/g)).to.deep.equal(Array(3).fill("HTTP/1.1 402"));
  });

  it("is the whole of its JSON", async () => {
    const response = await fetch(`${door.url}/v1/nothing`);
    const length = Number(response.headers.get("content-length"));
    expect(Buffer.byteLength(JSON.stringify(await jsonOf(response)))).to.equal(length);
  });
});
