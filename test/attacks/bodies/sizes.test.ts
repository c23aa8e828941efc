import { connect } from "node:net";
import { expect } from "chai";
import { PATHS } from "../../../runtime/core/paths.ts";
import { type Loose, MODERN_META } from "../../surfaces/mcp/served/support/stall.ts";
import { openWholeShop, type WholeShop } from "../support/whole-shop.ts";
import { toHostileInputs, toManyKeys } from "./hostile-bodies.ts";

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
   * about 1 ms on a quiet one. What seems too dear is measured again, five times, together with the bound: other programs on the
   * same processors change both.
   */
  const explainCost = async (before: Measured, send: () => Promise<number>): Promise<string | undefined> => {
    const isCheap = (cost: number, { unread, most }: Measured): boolean => cost - unread <= most;
    for (const runs of [1, 4]) if (isCheap(await cpuOf(send, runs), before)) return undefined;
    let again = 0;
    for (let round = 0; round < 5; round += 1) {
      again = await cpuOf(send, 20);
      if (isCheap(again, await measure())) return undefined;
    }
    return `${again.toFixed(1)} ms each time`;
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
    expect(await answerToHead("/v1/tldr", 1024 * KB + 1)).to.match(/^HTTP\/1.1 413 /);
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
