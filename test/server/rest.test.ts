import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect } from "chai";
import type { Outcome } from "../../runtime/core/call.ts";
import { eventually } from "../support/eventually.ts";
import { freezeTime } from "../support/frozen-time.ts";
import { type Door, decodeHeader, jsonOf, LIMITS, openDoor, RECEIPT, toChallenge, toService } from "../support/http.ts";

const SERVICES = [
  toService({ id: "roll", route: "POST /v1/roll", price: "0.001" }),
  toService({ id: "screen", route: "POST /v1/screen", aliases: ["GET /v1/screen"], price: "0.02" }),
  toService({ id: "verify", route: "POST /v1/verify" }),
  toService({ id: "poll", route: "GET /v1/jobs/{job_id}" }),
  toService({ id: "report", route: "POST /v1/jobs/{job_id}", price: "0.001" }),
];
const JSON_BODY = { "content-type": "application/json" };
const V1 = { x402Version: 1, error: "Payment required", accepts: [] };

describe("a call over HTTP", () => {
  let door: Door;
  before(async () => {
    door = await openDoor(SERVICES);
  });
  after(() => door.close({ graceMs: 0 }));
  beforeEach(() => void door.calls.splice(0));

  const post = (path: string, body: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(door.url + path, { method: "POST", body, headers: { ...JSON_BODY, ...headers } });
  const get = (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Response> =>
    fetch(door.url + path, { method, headers });

  describe("without payment", () => {
    it("is challenged with the same JSON in the body and in PAYMENT-REQUIRED, and never reaches invoke", async () => {
      const { body, header } = toChallenge(`${door.url}/v1/roll`);
      for (const sent of ["", "{", '{"low":1}']) {
        const response = await post("/v1/roll", sent);
        expect(response.status).to.equal(402);
        expect(response.headers.get("content-type")).to.equal("application/json");
        expect(response.headers.get("cache-control")).to.equal("no-store");
        expect(response.headers.get("payment-required")).to.equal(header);
        expect(await response.text()).to.equal(body.toString());
      }
      expect(door.calls).to.deep.equal([]);
    });

    /** Begins a call with a large body, and resolves when it is answered. */
    async function beginCall({ url, port }: Door, version: string): Promise<Socket> {
      const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
      let answer = "";
      socket.on("data", (chunk: Buffer) => {
        answer += chunk;
      });
      socket.write(`POST /v1/roll HTTP/${version}\r\nHost: x\r\nContent-Length: 200001\r\n\r\nx`);
      await eventually(() => answer.endsWith(toChallenge(`${url}/v1/roll`).body.toString()));
      return socket;
    }

    for (const version of ["1.0", "1.1"])
      it(`is challenged while its body is still sent, however slowly, over HTTP/${version}`, async () => {
        const time = freezeTime();
        const socket = await beginCall(door, version);
        await time.pass(20_000);
        time.thaw();
        for (let at = 0; at < 3; at++) await get("/health"); // A close would have come before these answers.
        expect(socket.readableEnded).to.equal(false);
        socket.end("x".repeat(200_000));
        await once(socket, "close");
      });

    it("does not delay a shutdown when it is answered", async () => {
      const closing = await openDoor(SERVICES);
      const socket = await beginCall(closing, "1.1");
      await closing.close({ graceMs: 600_000 });
      socket.destroy();
    });

    it("is challenged on every route of a service, for the same resource", async () => {
      for (const method of ["GET", "POST"]) {
        const response = await get("/v1/screen?wallet=0x1", {}, method);
        expect(response.status).to.equal(402);
        expect(await response.text()).to.equal(toChallenge(`${door.url}/v1/screen`).body.toString());
      }
    });

    it("is challenged in version 1 on ?x402Version=1, and on no other value", async () => {
      expect(await jsonOf(await post("/v1/roll?x402Version=1", ""))).to.deep.equal(V1);
      expect(await jsonOf(await post("/v1/roll?x402Version=2", ""))).to.include({ x402Version: 2 });
      expect(await jsonOf(await post("/v1/roll?ax402Version=1", ""))).to.include({ x402Version: 2 });
    });

    it("is challenged with the headers of GET and no body on HEAD, even with a payment", async () => {
      const asked = await get("/v1/screen");
      for (const headers of [{}, { "payment-signature": "good" }]) {
        const head = await get("/v1/screen", headers, "HEAD");
        expect(head.status).to.equal(402);
        expect(await head.text()).to.equal("");
        for (const name of ["payment-required", "content-length", "content-type", "cache-control"])
          expect(head.headers.get(name), name).to.equal(asked.headers.get(name));
      }
      expect(door.calls).to.deep.equal([]);
    });

    it("shows the challenge of now, not the one of before a change", async () => {
      let current = toChallenge("before");
      const changing = await openDoor(SERVICES, { challenge: () => current });
      const required = async (): Promise<string | null> =>
        (await fetch(`${changing.url}/v1/screen`)).headers.get("payment-required");
      expect(await required()).to.equal(toChallenge("before").header);
      current = toChallenge("after");
      expect(await required()).to.equal(toChallenge("after").header);
      await changing.close({ graceMs: 0 });
    });
  });

  describe("with a payment", () => {
    it("is answered with its result and its receipt, kept out of every shared cache", async () => {
      const response = await post("/v1/roll", '{"low":1}', { "payment-signature": "good" });
      expect(response.status).to.equal(200);
      expect(response.headers.get("cache-control")).to.equal("private, no-store");
      expect(response.headers.get("content-type")).to.equal("application/json");
      expect(decodeHeader(response.headers.get("payment-response"))).to.deep.equal(RECEIPT);
      expect(response.headers.get("x-payment-response")).to.equal(null);
      expect(await jsonOf(response)).to.deep.equal({ id: "roll", value: { low: 1 }, from: "body" });
    });

    it("is paid for the challenged resource, whatever the query", async () => {
      await post("/v1/roll?a=b", "{}", { "payment-signature": "good" });
      expect(door.calls[0]?.invocation).to.include({ payment: "good", resource: `${door.url}/v1/roll` });
    });

    it("takes PAYMENT-SIGNATURE before X-PAYMENT, and an empty header for none", async () => {
      await post("/v1/roll", "{}", { "payment-signature": "good", "x-payment": "old" });
      await post("/v1/roll", "{}", { "payment-signature": "", "x-payment": "good" });
      expect(door.calls.map(({ invocation }) => invocation.payment)).to.deep.equal(["good", "good"]);
      expect((await post("/v1/roll", "{}", { "payment-signature": "", "x-payment": "" })).status).to.equal(402);
      expect(door.calls).to.have.length(2);
    });

    it("that is refused is challenged again, with the reason; in version 1 to X-PAYMENT", async () => {
      const current = await post("/v1/roll", "{}", { "payment-signature": "bad" });
      expect(current.status).to.equal(402);
      expect(await jsonOf(current)).to.include({ x402Version: 2, error: "invalid_payload" });
      expect(decodeHeader(current.headers.get("payment-required"))).to.include({ error: "invalid_payload" });
      const legacy = await post("/v1/roll", "{}", { "x-payment": "bad" });
      expect(legacy.status).to.equal(402);
      expect(await jsonOf(legacy)).to.deep.equal({ ...V1, error: "invalid_payload" });
      expect(legacy.headers.get("payment-required")).to.be.a("string");
    });

    it("whose settlement failed is told so in PAYMENT-RESPONSE, without the result", async () => {
      const receipt = { success: false, errorReason: "insufficient_funds", transaction: "", network: "eip155:8453" };
      const challenge = toChallenge("x", "insufficient_funds");
      const failing = await openDoor(SERVICES, { invoke: async () => ({ kind: "challenge", challenge, receipt }) });
      const response = await fetch(`${failing.url}/v1/screen`, { headers: { "payment-signature": "good" } });
      expect(response.status).to.equal(402);
      expect(decodeHeader(response.headers.get("payment-response"))).to.deep.equal(receipt);
      expect(await response.text()).to.equal(challenge.body.toString());
      // Both would make a head that nginx refuses.
      const legacy = await fetch(`${failing.url}/v1/screen`, { headers: { "x-payment": "good" } });
      expect(decodeHeader(legacy.headers.get("x-payment-response"))).to.deep.equal(receipt);
      expect(legacy.headers.get("payment-response")).to.equal(null);
      await failing.close({ graceMs: 0 });
    });

    it("is told when the caller goes away before the answer, and not after it", async () => {
      const started = Promise.withResolvers<AbortSignal>();
      const ended = Promise.withResolvers<Outcome>();
      const slow = await openDoor(SERVICES, {
        invoke: (_service, { signal }) => {
          started.resolve(signal);
          return ended.promise;
        },
      });
      const leaving = new AbortController();
      const headers = { "payment-signature": "good" };
      const call = fetch(`${slow.url}/v1/screen`, { headers, signal: leaving.signal }).catch(() => "gone");
      const signal = await started.promise;
      expect(signal.aborted).to.equal(false);
      leaving.abort();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      expect(await call).to.equal("gone");
      ended.resolve({ kind: "result", output: {} });
      await slow.close({ graceMs: 1000 });

      const answered = await post("/v1/roll", "{}", { "payment-signature": "good" });
      await answered.text();
      expect(door.calls.at(-1)?.invocation.signal.aborted).to.equal(false);
    });
  });

  describe("of a free service", () => {
    it("needs no payment, and passes one on by which it may have been bought", async () => {
      const response = await post("/v1/verify", '{"a":1}', { "payment-signature": "whatever" });
      expect(response.status).to.equal(200);
      expect(response.headers.get("cache-control")).to.equal("private, no-store");
      expect(response.headers.get("payment-response")).to.equal(null);
      expect(door.calls[0]?.invocation.payment).to.equal("whatever");
    });

    it("takes its input from the path and the query, as texts; a query adds nothing to what the path says", async () => {
      const response = await get("/v1/jobs/a%2Fb?n=1&tag=x&tag=y&__proto__=z&x402Version=1&job_id=c&job_id[]=d");
      expect(await response.text()).to.equal(
        '{"id":"poll","value":{"n":"1","tag":["x","y"],"__proto__":"z","job_id":"a/b"},"from":"query"}',
      );
    });

    it("takes every parameter of a query that is not too long", async () => {
      await door.close({ graceMs: 0 });
      door = await openDoor(SERVICES, { limits: { ...LIMITS, url_bytes: 8192 } });
      const response = await get(`/v1/jobs/a?${"t=1&".repeat(1500)}last=2`);
      const { value } = await jsonOf<{ value: { t: string[]; last: string } }>(response);
      expect([value.t.length, value.last]).to.deep.equal([1500, "2"]);
    });

    it("refuses a query that is not UTF-8, instead of guessing its text", async () => {
      const asked = (query: string): Promise<Response> => get(`/v1/jobs/a?${query}`);
      for (const query of ["n=caf%E9", "n=%E0%A4&x", "%FF=1"]) {
        const response = await asked(query);
        expect(response.status, query).to.equal(400);
        expect((await jsonOf(response)).detail).to.equal("The query is not valid percent-encoded UTF-8");
      }
      for (const query of ["n=100%", "n=%zz", "n=caf%C3%A9+%EF%BF%BD", "n=%25E9"])
        expect((await asked(query)).status, query).to.equal(200);
    });

    it("answers HEAD as GET, without a body", async () => {
      const head = await get("/v1/jobs/7", {}, "HEAD");
      expect(head.status).to.equal(200);
      expect(head.headers.get("content-length")).to.equal((await get("/v1/jobs/7")).headers.get("content-length"));
      expect(await head.text()).to.equal("");
    });
  });

  it("may share its path with another service of another method", async () => {
    expect((await get("/v1/jobs/7")).status).to.equal(200);
    expect((await post("/v1/jobs/7", "{}")).status).to.equal(402);
    const paid = await post("/v1/jobs/7", '{"job_id":"8","a":1}', { "payment-signature": "good" });
    expect((await jsonOf(paid)).value).to.deep.equal({ job_id: "7", a: 1 });
  });
});
