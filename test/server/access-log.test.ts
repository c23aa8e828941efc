import { expect } from "chai";
import type { Outcome } from "../../runtime/core/call.ts";
import { createAccessLog } from "../../runtime/server/access-log.ts";
import { createLogBook, type Door, openDoor, RECEIPT, toService } from "../support/http.ts";

const SERVICES = [
  toService({ id: "roll", route: "POST /v1/roll", price: "0.001" }),
  toService({ id: "screen", route: "GET /v1/screen", price: "0.02" }),
];

describe("the access log", () => {
  let door: Door;
  let now = 1_000;
  before(async () => {
    door = await openDoor(SERVICES, { clock: { now: () => (now += 5) } });
  });
  after(() => door.close({ graceMs: 0 }));
  beforeEach(() => void door.lines.splice(0));

  it("has one line for each request", async () => {
    const unpaid = await fetch(`${door.url}/v1/screen?wallet=0x1`, { headers: { "x-request-id": "one" } });
    await fetch(`${door.url}/v1/screen`, { headers: { "x-request-id": "two", "payment-signature": "good" } });
    await fetch(`${door.url}/nothing`, { headers: { "x-request-id": "three" } });
    await fetch(`${door.url}/health`, { method: "HEAD", headers: { "x-request-id": "four" } });
    const bytes = (await unpaid.arrayBuffer()).byteLength;
    expect(door.lines.map(({ bytes: _, ms: __, ...line }) => line)).to.deep.equal(
      [
        { id: "one", method: "GET", path: "/v1/screen", status: 402, service: "screen", code: "payment-required" },
        {
          id: "two",
          method: "GET",
          path: "/v1/screen",
          status: 200,
          service: "screen",
          payer: RECEIPT.payer,
          network: RECEIPT.network,
          transaction: RECEIPT.transaction,
          amount: RECEIPT.amount,
        },
        { id: "three", method: "GET", path: "/nothing", status: 404, code: "not-found" },
        { id: "four", method: "HEAD", path: "/health", status: 200 },
      ].map((line) => ({ ...line, event: "http.request", level: "info" })),
    );
    for (const { ms } of door.lines) expect(ms).to.be.above(0);
    expect([door.lines[0]?.bytes, door.lines[3]?.bytes]).to.deep.equal([bytes, 0]);
  });

  it("marks an answer that was paid for before, so that its amount is not added up again", async () => {
    const sold = { kind: "result", output: {}, receipt: RECEIPT, asset: "0xToken" } as const;
    const asked: Outcome[] = [sold, { ...sold, isRepeat: true }];
    const shop = await openDoor(SERVICES, { invoke: async () => asked.shift() as Outcome });
    for (const _ of asked.slice()) await fetch(`${shop.url}/v1/screen`, { headers: { "payment-signature": "good" } });
    await shop.close({ graceMs: 0 });
    expect(shop.lines.map(({ amount, asset, replay }) => [amount, asset, replay])).to.deep.equal([
      ["1000", "0xToken", undefined],
      ["1000", "0xToken", true],
    ]);
  });

  it("holds no payment, no authorization, no query and no body", async () => {
    const headers = {
      "payment-signature": "SECRET-1",
      "x-payment": "SECRET-2",
      authorization: "SECRET-3",
      cookie: "SECRET-4",
      "content-type": "application/json",
      "x-request-id": "SECRET 5",
    };
    for (const path of ["/v1/roll?a=SECRET-6", "/nothing?SECRET-7"])
      await fetch(door.url + path, { method: "POST", headers, body: '"SECRET-8"' });
    expect(door.lines).to.have.length(2);
    expect(JSON.stringify(door.lines)).not.to.include("SECRET");
  });

  it("cuts long paths", async () => {
    await fetch(`${door.url}/${"x".repeat(1500)}`);
    expect(door.lines[0]?.path).to.have.length(256);
  });

  it("is bounded in a flood, says how much it left out, and never leaves a payment out", () => {
    const { lines, ...log } = createLogBook();
    const clock = { at: 0, now: () => clock.at };
    const record = createAccessLog(log, clock);
    const unpaid = {
      bodyBytes: 0,
      service: undefined,
      payer: undefined,
      network: undefined,
      transaction: undefined,
      amount: undefined,
      asset: undefined,
      isReplay: false,
      code: undefined,
    };
    const pass = (transaction?: string): void =>
      record(
        { id: "x", startedAt: 0, path: "/", client: "", ...unpaid, transaction },
        { method: "GET" } as Parameters<typeof record>[1],
        { status: 402, headers: [] },
      );
    for (let n = 0; n < 10_000; n++) pass();
    expect(lines).to.have.length(1000);
    for (let n = 0; n < 1_000; n++) pass(`0x${n % 5}`);
    expect(lines.slice(1000).map(({ transaction }) => transaction)).to.deep.equal(["0x0", "0x1", "0x2", "0x3", "0x4"]);
    clock.at = 10_000;
    pass("0x0");
    expect(lines.slice(1005).map(({ event, omitted, transaction }) => [event, omitted ?? transaction])).to.deep.equal([
      ["http.lines-omitted", 9_995],
      ["http.request", "0x0"],
    ]);
  });
});
