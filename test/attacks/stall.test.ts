import { connect } from "node:net";
import { expect } from "chai";
import { PATHS } from "../../runtime/core/paths.ts";
import { LIMITS, openDoor, speak, toService } from "../support/http.ts";
import { openShop, type Shop } from "../support/sellers/shop.ts";
import { openDoor as openA2aDoor } from "../surfaces/a2a/served/support/door.ts";
import { type Loose, MODERN_META } from "../surfaces/mcp/served/support/stall.ts";
import { toHostileInputs, toManyKeys } from "./support/hostile-bodies.ts";
import { openWholeShop, type WholeShop } from "./support/whole-shop.ts";

const KB = 1024;
const ROLL = { low: 1, high: 6 };

/** CPU time of this process, in milliseconds, for the best of some runs. */
async function cpuOf(run: () => unknown, runs: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let at = 0; at < runs; at += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

describe("a hostile body of 64 KB", function () {
  this.timeout(120_000);
  let shop: WholeShop;
  const worst = JSON.stringify(toManyKeys(64 * KB));
  before(async () => {
    shop = await openWholeShop();
  });
  after(() => shop.close());

  const post = async (path: string, body: Buffer, headers: Record<string, string> = {}): Promise<number> => {
    const all = { "content-type": "application/json", ...headers };
    const response = await fetch(shop.url + path, { method: "POST", headers: all, body });
    await response.arrayBuffer();
    return response.status;
  };

  /** What a request costs whose body is not read, and the most that reading one may cost beyond that. */
  const measure = async (): Promise<{ unread: number; most: number }> => ({
    unread: await cpuOf(() => post("/v1/roll", Buffer.alloc(64 * KB)), 20),
    most: 5 * (await cpuOf(() => JSON.parse(worst), 20)),
  });
  type Measured = Awaited<ReturnType<typeof measure>>;

  /**
   * What a request costs, if that is too much. The bound holds on any machine: JSON.parse of the worst JSON of 64 KB takes
   * about 1 ms on a quiet one. What seems too dear is measured again together with the bound, because the machine may have
   * become busy since.
   */
  const explainCost = async (before: Measured, send: () => Promise<number>): Promise<string | undefined> => {
    const isCheap = (cost: number, { unread, most }: Measured): boolean => cost - unread <= most;
    for (const runs of [1, 4]) if (isCheap(await cpuOf(send, runs), before)) return undefined;
    const again = await cpuOf(send, 20);
    return isCheap(again, await measure()) ? undefined : `${again.toFixed(1)} ms`;
  };

  it("costs no service more than a few times what its JSON costs to parse, when its payment is junk", async () => {
    const dear: string[] = [];
    const before = await measure();
    for (const { manifest, path, routes, input } of shop.services) {
      if (routes[0]?.method !== "POST" || manifest.price === undefined) continue;
      const pay = await shop.toPayments(path);
      const example = manifest.examples[0]?.input as object;
      for (const { title, input: hostile } of toHostileInputs(input.document, example, 63 * KB)) {
        const body = Buffer.from(JSON.stringify(hostile));
        const statuses = new Set<number>();
        const cost = await explainCost(before, async () => {
          const status = await post(path, body, { "payment-signature": pay() });
          statuses.add(status);
          return status;
        });
        if (![...statuses].every((status) => [402, 413, 422].includes(status)))
          dear.push(`${manifest.id}, ${title}: answered ${[...statuses].join(", ")}`);
        if (cost) dear.push(`${manifest.id}, ${title}: ${cost}`);
      }
    }
    expect(dear).to.deep.equal([]);
  });

  it("costs the free check of attestations no more than that", async () => {
    const service = shop.services.find(({ manifest }) => manifest.id === "attest_verify");
    const { path, input, manifest } = service as NonNullable<typeof service>;
    const dear: string[] = [];
    const before = await measure();
    const example = manifest.examples[0]?.input as object;
    for (const { title, input: hostile } of toHostileInputs(input.document, example, 60 * KB)) {
      const body = Buffer.from(JSON.stringify(hostile));
      const cost = await explainCost(before, () => post(path, body));
      if (cost) dear.push(`${title}: ${cost}`);
    }
    expect(dear).to.deep.equal([]);
  });

  it("costs the MCP endpoint no more than that", async () => {
    const pay = await shop.toPayments("/v1/roll");
    const before = await measure();
    const dear: string[] = [];
    for (const { title, input } of toHostileInputs({}, ROLL, 60 * KB)) {
      const meta = { ...MODERN_META, "x402/payment": pay() };
      const params = { name: "roll", arguments: input, _meta: meta };
      const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "roll" };
      const cost = await explainCost(before, () => post(PATHS.mcp, body, headers));
      if (cost) dear.push(`${title}: ${cost}`);
    }
    expect(dear).to.deep.equal([]);
  });
});

describe("a body that is larger than its service takes", () => {
  let shop: WholeShop;
  before(async () => {
    shop = await openWholeShop();
  });
  after(() => shop.close());

  /** The answer to a head alone: no byte of the body is ever sent. */
  const answerToHead = async (path: string, bytes: number): Promise<string> => {
    const pay = await shop.toPayments(path);
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(Number(new URL(shop.url).port), "127.0.0.1");
    socket.once("data", (data) => resolve(data.toString()));
    const head = [
      `POST ${path} HTTP/1.1`,
      "Host: 127.0.0.1",
      "Content-Type: application/json",
      `Content-Length: ${bytes}`,
      `PAYMENT-SIGNATURE: ${pay()}`,
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    const answer = await promise;
    socket.destroy();
    return answer;
  };

  it("is refused before it is sent: 64 KB, or what the manifest says", async () => {
    expect(await answerToHead("/v1/roll", 64 * KB + 1)).to.match(/^HTTP\/1.1 413 .*"code":"payload-too-large"/s);
    expect(await answerToHead("/v1/tldr", 640 * KB + 1)).to.match(/^HTTP\/1.1 413 /);
  });

  it("buys nothing as a tool either", async () => {
    const params = { name: "roll", arguments: { ...ROLL, unknown: "x".repeat(100 * KB) }, _meta: MODERN_META };
    const headers = {
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "roll",
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const response = await fetch(shop.url + PATHS.mcp, { method: "POST", headers, body });
    const { result } = (await response.json()) as Loose;
    expect(JSON.parse(result.content[0].text).code).to.equal("payload-too-large");
  });
});

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
