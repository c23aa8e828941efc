import { expect } from "chai";
import { PATHS } from "../../../runtime/core/paths.ts";
import { LIMITS, openDoor, speak, toService } from "../../support/http.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { openDoor as openA2aDoor } from "../../surfaces/a2a/served/support/door.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";
import { toManyKeys } from "./hostile-bodies.ts";

const KB = 1024;

describe("one address", () => {
  let shop: Shop;
  const large = { ...ROLL, unknown: "x".repeat(60 * KB) };
  /** Four requests and 128 KB at once. */
  const open = async (): Promise<void> => {
    shop = await openShop({ limits: { unpaid_burst: 4, unpaid_per_minute: 1, body_bytes: 128 * KB } });
  };
  beforeEach(open);
  afterEach(() => shop.close());
  const roll = async (payment: string, body: object, address: string): Promise<Response> =>
    shop.post("/v1/roll", body, { "payment-signature": payment, "x-forwarded-for": address });

  it("spends its own bytes on bodies that are refused, and nobody else's", async () => {
    shop.rail.script.verify = () => ({ isValid: false, invalidReason: "invalid_signature" });
    const statuses: number[] = [];
    for (const address of ["192.0.2.1", "192.0.2.1", "192.0.2.1", "192.0.2.2"])
      statuses.push((await roll(await shop.pay("/v1/roll"), large, address)).status);
    expect(statuses).to.deep.equal([402, 402, 429, 402]);
  });

  it("spends more of them on many fields, which cost more than texts of the same length", async () => {
    shop.rail.script.verify = () => ({ isValid: false, invalidReason: "invalid_signature" });
    const statuses: number[] = [];
    for (const body of [{ ...ROLL, ...toManyKeys(40 * KB) }, ROLL])
      statuses.push((await roll(await shop.pay("/v1/roll"), body, "192.0.2.1")).status);
    expect(statuses).to.deep.equal([402, 429]);
    expect((await roll(await shop.pay("/v1/roll"), ROLL, "192.0.2.2")).status).to.equal(402);
  });

  it("can send the largest body at once, whatever its budget is and whatever is in it", async () => {
    await shop.close();
    shop = await openShop({ limits: { unpaid_burst: 1, unpaid_per_minute: 1, body_bytes: 128 * KB } });
    const largest = { ...ROLL, ...toManyKeys(120 * KB) };
    expect((await roll(await shop.pay("/v1/roll"), largest, "192.0.2.1")).status).to.equal(200);
  });

  it("gets them back for what it buys, once: the same payment again counts", async () => {
    const payments = [await shop.pay("/v1/roll"), await shop.pay("/v1/roll"), await shop.pay("/v1/roll")];
    const statuses: number[] = [];
    for (const payment of [...payments, ...payments]) statuses.push((await roll(payment, large, "192.0.2.1")).status);
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429]);
    expect(shop.executions).to.equal(3);
  });

  it("cannot repeat a settled payment without end", async () => {
    const payment = await shop.pay("/v1/roll");
    const statuses: number[] = [];
    for (let at = 0; at < 6; at += 1) statuses.push((await roll(payment, ROLL, "192.0.2.1")).status);
    expect(statuses).to.deep.equal([200, 200, 200, 200, 200, 429]);
  });

  it("spends its requests also on what the MCP endpoint does not read", async () => {
    const headers = { "content-type": "text/plain", "x-forwarded-for": "192.0.2.1" };
    const statuses: number[] = [];
    for (let request = 0; request < 5; request += 1)
      statuses.push((await fetch(shop.url + PATHS.mcp, { method: "POST", headers, body: "{}" })).status);
    expect(statuses).to.deep.equal([415, 415, 415, 415, 429]);
  });

  it("is told by the MCP endpoint in JSON-RPC that it has asked too often, and can still pay there", async () => {
    const payment = JSON.parse(Buffer.from(await shop.pay("/v1/roll", { resource: undefined }), "base64").toString());
    const call = (meta: object): Promise<Response> => {
      const params = { name: "roll", arguments: ROLL, _meta: meta };
      return shop.post(PATHS.mcp, { jsonrpc: "2.0", id: 7, method: "tools/call", params });
    };
    for (let at = 0; at < 3; at += 1) expect((await call({})).status).to.equal(200);
    const refused = await call({});
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get("retry-after"))).to.be.above(0);
    const { id, error } = (await refused.json()) as Loose;
    expect([id, error.code]).to.deep.equal([7, -42901]);
    const { result } = (await (await call({ "x402/payment": payment })).json()) as Loose;
    expect(result._meta["x402/payment-response"].success).to.equal(true);
    const repeated: number[] = [];
    for (let at = 0; at < 5; at += 1) repeated.push((await call({ "x402/payment": payment })).status);
    expect(repeated, "the same payment again counts").to.deep.equal([200, 200, 200, 200, 429]);
  });
});

describe("the door between agents", () => {
  it("answers in JSON-RPC who has asked too often, and lets payments through", async () => {
    const { a2a, pay, close } = await openA2aDoor();
    const limits = { ...LIMITS, unpaid_burst: 2, unpaid_per_minute: 1 };
    const http = await openDoor([], { doors: new Map([[PATHS.a2a, a2a]]), limits });
    const send = async (message: object): Promise<{ status: number; retryAfter: string | null; body: Loose }> => {
      const params = { message: { kind: "message", messageId: "m", role: "user", parts: [], ...message } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "message/send", params });
      const headers = { "content-type": "application/json" };
      const response = await fetch(http.url + PATHS.a2a, { method: "POST", headers, body });
      return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.json() };
    };
    const parts = [{ kind: "data", data: { skill: "roll", input: ROLL } }];
    const { body: begun } = await send({ parts });
    expect((await send({ parts })).status).to.equal(200);
    const refused = await send({ parts });
    expect(refused.status).to.equal(429);
    expect(Number(refused.retryAfter)).to.be.above(0);
    expect([refused.body.id, refused.body.error.code]).to.deep.equal([7, -42901]);
    const unread = await fetch(http.url + PATHS.a2a, { method: "POST", body: "no JSON" });
    expect(unread.status, "what is not read counts, too").to.equal(429);
    const required = begun.result.status.message.metadata["x402.payment.required"];
    const metadata = { "x402.payment.status": "payment-submitted", "x402.payment.payload": pay(required) };
    expect((await send({ taskId: begun.result.id, metadata })).body.result.status.state).to.equal("completed");
    await http.close({ graceMs: 0 });
    close();
  });
});

describe("a request with two Host headers", () => {
  it("is refused: a proxy could have read the other one", async () => {
    const door = await openDoor([toService({ id: "roll", route: "POST /v1/roll", price: "0.001" })]);
    const close = "Connection: close\r\n\r\n";
    expect(await speak(door.port, `GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n${close}`)).to.match(
      /^HTTP\/1.1 400 .*"code":"bad-request"/s,
    );
    expect(await speak(door.port, `GET / HTTP/1.1\r\nHost: a\r\n${close}`)).to.match(/^HTTP\/1.1 200 /);
    await door.close({ graceMs: 0 });
  });
});
