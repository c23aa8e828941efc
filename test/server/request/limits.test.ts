import { mock } from "node:test";
import { expect } from "chai";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Problem } from "../../../runtime/api/problem.ts";
import type { Allowance } from "../../../runtime/core/limiter.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { createLimits, toClientKey } from "../../../runtime/server/request/limits.ts";
import type { RpcDoor } from "../../../runtime/surfaces/rpc/door.ts";
import { type Door, jsonOf, LIMITS, openDoor, RECEIPT, toService } from "../../support/http.ts";

const SERVICES = [
  toService({ id: "screen", route: "GET /v1/screen", price: "0.02" }),
  toService({ id: "poll", route: "GET /v1/jobs/{job_id}" }),
];
const NARROW = { ...LIMITS, unpaid_per_minute: 6, unpaid_burst: 3 };

describe("the limit of unpaid requests", () => {
  let door: Door | undefined;
  afterEach(() => door?.close({ graceMs: 0 }));
  const open = async (changes: Parameters<typeof openDoor>[1] = {}): Promise<void> => {
    door = await openDoor(SERVICES, { limits: NARROW, ...changes });
  };
  const ask = (path = "/v1/screen", headers: Record<string, string> = {}): Promise<Response> =>
    fetch(door?.url + path, { headers });
  const statuses = async (times: number, path?: string, headers?: Record<string, string>): Promise<number[]> => {
    const all: number[] = [];
    for (let n = 0; n < times; n++) all.push((await ask(path, headers)).status);
    return all;
  };

  it("allows a burst, then answers 429 and says when to come back", async () => {
    await open();
    expect(await statuses(3)).to.deep.equal([402, 402, 402]);
    const response = await ask();
    expect(response.status).to.equal(429);
    expect(Number(response.headers.get("retry-after"))).to.be.within(1, 30);
    expect(response.headers.get("access-control-allow-origin")).to.equal("*");
    expect((await jsonOf(response)).code).to.equal("rate-limited");
  });

  it("sends nobody away for longer than the period still lasts, nor because the clock was set back", async () => {
    await open();
    await statuses(4);
    const { now } = Date;
    const askAfter = async (ms: number): Promise<number> => {
      const moved = mock.method(Date, "now", () => now() + ms);
      const response = await ask();
      moved.mock.restore();
      expect(response.status).to.equal(429);
      return Number(response.headers.get("retry-after"));
    };
    expect(await askAfter(20_000)).to.be.within(1, 10);
    expect(await askAfter(-24 * 60 * 60_000)).to.equal(30);
  });

  it("holds also where its period is longer than a timer of Node can be", async () => {
    const limits = createLimits({ unpaid_burst: 40_000, unpaid_per_minute: 1 }, createMemoryLimiter);
    await limits.take("somebody", "unpaid", 40_000);
    await new Promise((done) => setTimeout(done, 20)); // What does not fit is set to 1 ms.
    const problem = await limits.take("somebody", "unpaid").catch((error: unknown) => error);
    expect(problem).to.be.instanceOf(Problem).with.property("code", "rate-limited");
  });

  it("gives the bytes of bodies at one pace, however large the largest body is that must fit at once", () => {
    const bytesOf = (largestBody?: number): Allowance => {
      const made: Allowance[] = [];
      createLimits({ unpaid_burst: 60, unpaid_per_minute: 30, ...(largestBody && { largestBody }) }, (allowance) => {
        made.push(allowance);
        return createMemoryLimiter(allowance);
      });
      return made.find(({ budget }) => budget === "bytes") ?? expect.fail("bytes are not counted");
    };
    expect(bytesOf()).to.include({ points: 491_520, seconds: 30 });
    expect(bytesOf(4_915_200)).to.include({ points: 4_915_200, seconds: 300 });
  });

  it("counts every kind of unpaid request together", async () => {
    await open();
    expect([(await ask()).status, (await ask("/v1/jobs/1")).status, (await ask("/nothing")).status]).to.deep.equal([
      402, 200, 404,
    ]);
    expect(await statuses(1, "/v1/screen")).to.deep.equal([429]);
  });

  it("counts documents, OPTIONS and 405 in a larger budget of their own", async () => {
    await open();
    const refused = async (method: string): Promise<number> =>
      (await fetch(`${door?.url}/v1/screen`, { method })).status;
    expect(await statuses(10, "/")).to.deep.equal(Array(10).fill(200));
    expect([await refused("OPTIONS"), await refused("PUT")]).to.deep.equal([204, 405]);
    expect(await statuses(3)).to.deep.equal([402, 402, 402]);
    expect(await statuses(19, "/")).to.deep.equal([...Array(18).fill(200), 429]);
    expect([await refused("OPTIONS"), await refused("PUT")]).to.deep.equal([429, 429]);
  });

  it("leaves the probes of operators alone", async () => {
    await open();
    await statuses(4);
    expect([...(await statuses(3, "/health")), ...(await statuses(3, "/ready"))]).to.deep.equal(Array(6).fill(200));
  });

  it("never stops a call that is paid and accepted, nor counts it", async () => {
    await open();
    const paid = { "payment-signature": "good" };
    expect(await statuses(10, "/v1/screen", paid)).to.deep.equal(Array(10).fill(200));
    expect(await statuses(4)).to.deep.equal([402, 402, 402, 429]);
    expect(await statuses(3, "/v1/screen", paid)).to.deep.equal([200, 200, 200]);
  });

  it("holds for refused payments as well", async () => {
    await open();
    const refused = { "payment-signature": "bad" };
    expect(await statuses(2, "/v1/screen", refused)).to.deep.equal([402, 402]);
    expect(await statuses(1, "/v1/jobs/1"), "what is free gives nothing back").to.deep.equal([200]);
    expect(await statuses(2, "/v1/screen", refused)).to.deep.equal([402, 429]);
    expect(door?.calls).to.have.length(4);
    expect(await statuses(1, "/v1/screen", { "x-payment": "good" })).to.deep.equal([429]);
  });

  it("holds for payments by message whose work is not delivered, however often they are repeated", async () => {
    const owed = { service: "screen", receipt: RECEIPT, problem: new Problem("paid-not-delivered") };
    const owing: RpcDoor = {
      maxBytes: 100,
      handle: ({ admit }) =>
        admit(true).then(
          () => ({ status: 200, headers: {}, body: "{}", calls: [owed] }),
          () => ({ status: 429, headers: {}, body: "{}", calls: [] }),
        ),
    };
    await open({ doors: new Map([["/mcp", owing]]) });
    const call = async (): Promise<number> => (await fetch(`${door?.url}/mcp`, { method: "POST" })).status;
    expect([await call(), await call(), await call(), await call()]).to.deep.equal([200, 200, 200, 429]);
  });

  it("is kept for each client that a trusted proxy names, and believes nobody else", async () => {
    const from = (address: string): Record<string, string> => ({ "x-forwarded-for": address });
    await open({ trustProxy: 1 });
    expect(await statuses(4, "/v1/screen", from("203.0.113.1"))).to.deep.equal([402, 402, 402, 429]);
    expect(await statuses(1, "/v1/screen", from("203.0.113.2"))).to.deep.equal([402]);
    expect(await statuses(1, "/v1/screen", from("203.0.113.2, 203.0.113.1"))).to.deep.equal([429]);
    await door?.close({ graceMs: 0 });
    await open();
    await statuses(3, "/v1/screen", from("203.0.113.1"));
    expect(await statuses(1, "/v1/screen", from("203.0.113.2"))).to.deep.equal([429]);
  });

  it("may be kept by another limiter, and answers 503 while that cannot count", async () => {
    await open({ createLimiter: () => new RateLimiterMemory({ points: 1, duration: 60 }) });
    expect(await statuses(2)).to.deep.equal([402, 429]);
    await door?.close({ graceMs: 0 });
    const failing = {
      consume: () => Promise.reject(new Error("redis://:secret@host is gone")),
      reward: () => Promise.reject(),
    };
    await open({ createLimiter: () => failing });
    const response = await ask();
    expect(response.status).to.equal(503);
    expect(await response.text()).not.to.include("secret");
  });
});

describe("a client's address", () => {
  it("is its IPv4 address, or the /64 of its IPv6 address", () => {
    const keys: readonly [string | undefined, string][] = [
      ["203.0.113.7", "203.0.113.7"],
      ["::ffff:203.0.113.7", "203.0.113.7"],
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
      ["2001:db8:1:2::1", "2001:db8:1:2::/64"],
      ["2001:db8::1", "2001:db8:0:0::/64"],
      ["fe80::1%eth0", "fe80:0:0:0::/64"],
      ["::1", "0:0:0:0::/64"],
      ["1::3:4:5:6:7:8", "1:0:3:4::/64"],
      ["203.0.113.7:50123", "203.0.113.7"],
      ["[2001:db8:1:2::1]:50123", "2001:db8:1:2::/64"],
      ["[2001:db8:1:2::1]", "2001:db8:1:2::/64"],
      ["2001:0DB8:0001:2::1", "2001:db8:1:2::/64"],
      ["::ffff:cb00:7107", "203.0.113.7"],
      ["0:0:0:0:0:FFFF:203.0.113.7", "203.0.113.7"],
      ["::ffff:a00:1", "10.0.0.1"],
      ["no:address", "no:address:0:0::/64"],
      ["x".repeat(1000), "x".repeat(64)],
      [undefined, "unknown"],
    ];
    for (const [address, key] of keys) expect(toClientKey(address)).to.equal(key);
  });
});
