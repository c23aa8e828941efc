import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect } from "chai";
import { openSqliteStore } from "../../runtime/drivers/store/sqlite/sqlite.ts";
import { createScriptedRail } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder } from "../support/folder.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../support/sellers/shop.ts";
import { encode } from "../support/sellers/signed.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

interface Payload {
  readonly signature: string;
  readonly authorization: Record<string, string>;
}
interface Paid {
  readonly x402Version: number;
  readonly accepted: { asset: string; extra: Record<string, unknown> } & Record<string, unknown>;
  readonly resource: { url: string };
  readonly payload: Payload;
}

const decode = (payment: string): Paid => JSON.parse(Buffer.from(payment, "base64").toString()) as Paid;
const toV1 = ({ payload }: Paid): string => encode({ x402Version: 1, scheme: "exact", network: "base", payload });
const rewrite = (payment: string, change: (text: string) => string): string => {
  const { signature, authorization, ...rest } = { ...decode(payment).payload, ...decode(payment) };
  const { from = "", to = "", nonce = "" } = authorization;
  const written = { ...authorization, from: change(from), to: change(to), nonce: change(nonce) };
  return encode({ ...rest, payload: { signature: change(signature), authorization: written } });
};
const upper = (hex: string): string => `0x${hex.slice(2).toUpperCase()}`;

/** Every way in which one payment for a roll can be brought to one shop. */
const DOORS: Record<string, (shop: Shop, payment: string) => Promise<Response>> = {
  "POST, V2": (shop, payment) => shop.post("/v1/roll", ROLL, { "payment-signature": payment }),
  "POST, V1": (shop, payment) => shop.post("/v1/roll", ROLL, { "x-payment": toV1(decode(payment)) }),
  "POST, V1 in the header of V2": (shop, payment) =>
    shop.post("/v1/roll", ROLL, { "payment-signature": toV1(decode(payment)) }),
  "POST, other capitals": (shop, payment) =>
    shop.post("/v1/roll", ROLL, { "payment-signature": rewrite(payment, upper) }),
  GET: (shop, payment) => fetch(`${shop.url}/v1/roll?low=1&high=6`, { headers: { "payment-signature": payment } }),
  "MCP, in _meta": (shop, payment) => callTool(shop, { "x402/payment": onMcp(shop, payment) }),
  "MCP, V1 in a header": (shop, payment) => callTool(shop, undefined, { "x-payment": toV1(decode(payment)) }),
};

const onMcp = (shop: Shop, payment: string): object => ({ ...decode(payment), resource: { url: `${shop.url}/mcp` } });
const callTool = (shop: Shop, _meta?: object, headers: Record<string, string> = {}): Promise<Response> => {
  const params = { name: "roll", arguments: ROLL, ...(_meta && { _meta }) };
  const own = { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" };
  return shop.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }, { ...own, ...headers });
};

/** The roll in an answer, whatever door it came through; undefined when it holds none. */
async function rollIn(response: Response): Promise<unknown> {
  const body = (await response.json()) as { value?: unknown; result?: { structuredContent?: { value?: unknown } } };
  const found = body.result?.structuredContent ?? body;
  return "value" in found ? found : undefined;
}
const collectGarbage = (): void => {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
};

describe("a payment", () => {
  let shop: Shop;
  const open = async (options: ShopOptions): Promise<void> => {
    await shop?.close();
    shop = await openShop(options);
  };
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  it("buys one execution, through all doors and in all spellings at once", async () => {
    const payment = await shop.pay("/v1/roll");
    const copies = Object.values(DOORS).flatMap((door) => Array.from({ length: 10 }, () => door(shop, payment)));
    const rolls = await Promise.all(copies.map(async (copy) => rollIn(await copy)));
    expect(shop.executions).to.equal(1);
    expect(shop.rail.asked).to.include({ verify: 1, settle: 1 });
    const delivered = rolls.filter((roll) => roll !== undefined);
    expect(delivered).not.to.be.empty;
    for (const roll of delivered) expect(roll).to.deep.equal({ value: 1, executions: 1 });
  });

  for (const [name, door] of Object.entries(DOORS))
    it(`that was spent fetches its own answer by ${name}`, async () => {
      const payment = await shop.pay("/v1/roll");
      const first = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).json();
      await eventually(async () => {
        const roll = await rollIn(await door(shop, payment));
        return roll !== undefined && JSON.stringify(roll) === JSON.stringify(first);
      });
      expect(shop.executions).to.equal(1);
      expect(shop.rail.asked.settle).to.equal(1);
    });

  it("is the same one in V1 and V2 after the rail's asset was changed", async () => {
    const payment = await shop.pay("/v1/roll");
    const first = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).json();
    Object.assign(shop.rail.manifest, { asset: `0x${"77".repeat(20)}` });
    await shop.restart();
    const replay = await shop.post("/v1/roll", ROLL, { "x-payment": toV1(decode(payment)) });
    expect(await replay.json()).to.deep.equal(first);
    expect(shop.executions, "since the restart").to.equal(0);
  });

  it("is refused when it could be used for longer than it is remembered", async () => {
    const tooLong = await shop.pay("/v1/roll", { validForSeconds: 100_000 });
    const response = await shop.post("/v1/roll", ROLL, { "payment-signature": tooLong });
    expect(response.status).to.equal(402);
    expect(await response.json())
      .to.have.property("error")
      .that.matches(/^payment_valid_too_long: /);
    const aDay = await shop.pay("/v1/roll", { validForSeconds: 86_000 });
    await shop.post("/v1/roll", ROLL, { "payment-signature": aDay });
    shop.clock.advance(85_000_000);
    expect((await shop.retry("/v1/roll", ROLL, aDay)).status).to.equal(200);
    expect(shop.executions).to.equal(1);
  });

  it("that ran out does not come back when the clock is put back while its answer is kept", async () => {
    const payment = await shop.pay("/v1/roll");
    await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    shop.clock.advance(10 * 60_000);
    shop.clock.advance(-3_600_000);
    await shop.retry("/v1/roll", ROLL, payment);
    expect(shop.executions).to.equal(1);
    expect(shop.rail.asked.settle).to.equal(1);
  });

  describe("on another route, body or method", () => {
    const others: [what: string, send: (payment: string) => Promise<Response>][] = [
      ["another body", (payment) => shop.post("/v1/roll", { low: 1, high: 7 }, { "payment-signature": payment })],
      ["another route", (payment) => shop.post("/v1/echo", ROLL, { "payment-signature": payment })],
      [
        "another route, with the resource rewritten",
        (payment) => {
          const { accepted, ...paid } = decode(payment);
          const bare = { ...paid, accepted: { ...accepted, extra: {} }, resource: { url: `${shop.url}/v1/echo` } };
          return shop.post("/v1/echo", ROLL, { "payment-signature": encode(bare) });
        },
      ],
      ["another route in V1", (payment) => shop.post("/v1/echo", ROLL, { "x-payment": toV1(decode(payment)) })],
      [
        "another method with another input",
        (payment) => fetch(`${shop.url}/v1/roll?low=2&high=6`, { headers: { "payment-signature": payment } }),
      ],
    ];
    for (const [what, send] of others)
      it(`buys nothing a second time with ${what}`, async () => {
        const payment = await shop.pay("/v1/roll");
        expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
        for (let again = 0; again < 3; again++) {
          const response = await send(payment);
          expect(response.status).to.be.oneOf([402, 409]);
          expect(await response.text()).not.to.contain('"value"');
        }
        expect(shop.executions).to.equal(1);
        expect(shop.rail.moved.size).to.equal(1);
      });

    it("shows nothing to HEAD, and is not spent by it", async () => {
      const headers = { "payment-signature": await shop.pay("/v1/roll") };
      const response = await fetch(`${shop.url}/v1/roll?low=1&high=6`, { method: "HEAD", headers });
      expect(response.status).to.equal(402);
      expect(shop.rail.asked.verify).to.equal(0);
    });
  });

  it("that ran out does not hold its answer in memory while the input of its call still comes", async () => {
    const store = createMemoryStore(() => shop.clock.now());
    const read: WeakRef<object>[] = [];
    const get = async <T>(key: string): Promise<T | undefined> => {
      const value = await store.get<T>(key);
      if (key.startsWith("payment:") && value) read.push(new WeakRef(value));
      return value;
    };
    await open({ store: { ...store, get } });
    const payment = await shop.pay("/v1/roll");
    const first = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).text();
    shop.clock.advance(6 * 60_000);
    const socket = connect(Number(new URL(shop.url).port), "127.0.0.1");
    const input = JSON.stringify(ROLL);
    const head = ["POST /v1/roll HTTP/1.1", "Host: x", "Connection: close", `Payment-Signature: ${payment}`];
    const body = ["Content-Type: application/json", `Content-Length: ${input.length}`, "Expect: 100-continue"];
    const answer = text(socket);
    read.length = 0;
    socket.write(`${[...head, ...body].join("\r\n")}\r\n\r\n`);
    await once(socket, "data"); // 100 Continue: the call has begun.
    await eventually(() => {
      collectGarbage();
      return read.length > 0 && read.every((record) => record.deref() === undefined);
    });
    socket.write(input);
    expect(await answer)
      .to.match(/^HTTP\/1.1 100 .*HTTP\/1.1 200 /s)
      .and.satisfy((all: string) => all.endsWith(first));
  });

  it("replayed 1000 times, 20 at once, across a restart on a real store, is executed once and answered each time", async () => {
    const data = createFolder();
    const file = `${data}/payphone.sqlite`;
    let sqlite = await openSqliteStore({ file });
    const rail = createScriptedRail();
    const entries = createMemoryStore().entries;
    await open({ rail, store: { ...sqlite, entries } });
    const payment = await shop.pay("/v1/roll");
    const first = await (await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).text();
    const baseUrl = shop.url;
    const replay = async (): Promise<void> => {
      for (let batch = 0; batch < 25; batch++) {
        const copies = Array.from({ length: 20 }, () => shop.post("/v1/roll", ROLL, { "payment-signature": payment }));
        for (const copy of await Promise.all(copies)) {
          expect([copy.status, await copy.text()]).to.deep.equal([200, first]);
        }
      }
    };
    await replay();
    expect(shop.executions).to.equal(1);
    await shop.close();
    await sqlite.close();
    sqlite = await openSqliteStore({ file });
    shop = await openShop({ rail, baseUrl, store: { ...sqlite, entries } });
    await replay();
    expect(shop.executions, "since the restart").to.equal(0);
    expect(rail.asked).to.include({ verify: 1, settle: 1 });
    await sqlite.close();
  });
});
