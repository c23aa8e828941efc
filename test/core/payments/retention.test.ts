import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { claims, createScriptedRail, refuses } from "../../support/chains/scripted-rail.ts";
import { eventually } from "../../support/eventually.ts";
import { openShop, ROLL, type Shop, type ShopOptions } from "../../support/sellers/shop.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { noteLives } from "../../support/store/note-lives.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** How long the authorizations of this shop are valid, unless a test says otherwise. */
const VALID = 5 * MINUTE;
const PAYER = "eip155:8453:0x1111111111111111111111111111111111111111";

describe("how long a shop remembers", () => {
  let shop: Shop;
  /** What was written, by the first word of its key: the lives, in milliseconds. */
  let lives: Map<string, number[]>;
  afterEach(() => shop.close());

  /** A shop whose clock stands still, at a whole second. */
  const open = async (options: ShopOptions = {}): Promise<void> => {
    const clock = { now: () => 1_800_000_000_000, advance: () => {} };
    const store = createMemoryStore(clock.now);
    lives = noteLives(store);
    shop = await openShop({ ...options, store, clock });
    lives.delete("lease");
  };
  const send = (payment: string, path = "/v1/roll"): Promise<Response> =>
    shop.post(path, ROLL, { "payment-signature": payment });
  const refuse = (): void => {
    shop.rail.script.settle = refuses();
  };

  it("an offer for as long as it may be paid, and two minutes", async () => {
    await open();
    expect([...new Set(lives.get("offer"))]).to.deep.equal([VALID + 2 * MINUTE]);
  });

  it("an open settlement for a day beyond its authorization, and its answer for a quarter of an hour", async () => {
    await open();
    expect((await send(await shop.pay("/v1/roll"))).status).to.equal(200);
    expect(lives.get("payment")).to.deep.equal([VALID + DAY, 15 * MINUTE]);
    expect(lives.get("open")).to.deep.equal([VALID + DAY]);
    expect(lives.get("in-flight"), "20 seconds of work, and 75 for the settlement").to.deep.equal([95 * SECOND]);
    expect(lives.get("lease")?.[0]).to.equal(2 * SECOND);
    expect(lives.get("spent"), "an authorization with an expiry is refused by itself").to.equal(undefined);
  });

  it("what an identifier stands for as long as its payment may be open", async () => {
    await open();
    await send(await shop.pay("/v1/roll", { identifier: "pay_00000000000000000001" }));
    expect(lives.get("named")).to.deep.equal([VALID + DAY]);
  });

  it("the answer for a minute longer than a long authorization could be used", async () => {
    await open();
    await send(await shop.pay("/v1/roll", { validForSeconds: 3600 }));
    expect(lives.get("payment")).to.deep.equal([HOUR + DAY, HOUR + MINUTE]);
  });

  it("the answer for a day when it was settled while nobody asked", async () => {
    await open();
    shop.rail.script.settle = () => Promise.reject(new Problem("facilitator-unavailable"));
    expect((await send(await shop.pay("/v1/roll"))).status).to.equal(503);
    delete shop.rail.script.settle;
    await eventually(() => lives.get("payment")?.includes(DAY) ?? false);
  });

  for (const dies of [false, true])
    it(`the answer for a day when the work was done ${dies ? "as its process died" : "again while nobody asked"}`, async () => {
      await open();
      shop.handler = () => {
        throw new Problem("upstream-failed", "The source is away");
      };
      expect((await send(await shop.pay("/v1/echo"), "/v1/echo")).status).to.equal(502);
      const keys = (): string[] => [...shop.store.entries.keys()];
      const end = keys()
        .find((key) => key.startsWith("open:"))!
        .replace("open", "owed-end");
      if (dies) await shop.store.set(end, { state: "delivered", output: {} });
      else shop.handler = undefined;
      await eventually(() => lives.get("owed-end"));
      await eventually(() => !keys().some((key) => key.startsWith("open:")));
      expect(lives.get("payment")?.at(-1)).to.equal(DAY);
    });

  it("that a payment without an expiry was spent for 30 days, as long as work that is owed", async () => {
    const network = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
    await open({ rail: createScriptedRail({ id: "solana", network }) });
    const { accepts } = (await (await shop.post("/v1/roll", {})).json()) as { accepts: [object] };
    const data = Buffer.from([12, 232, 3, 0, 0, 0, 0, 0, 0, 6]); // 1000 atomic units
    const head = [1, ...Buffer.alloc(64), 1, 0, 0, 1, ...Buffer.alloc(64), 1, 0, 0, data.length, ...data];
    const payload = { transaction: Buffer.from(head).toString("base64") };
    const paid = Buffer.from(JSON.stringify({ x402Version: 2, accepted: accepts[0], payload })).toString("base64");
    expect((await send(paid)).status).to.equal(200);
    expect(lives.get("spent")).to.deep.equal([30 * DAY]);
    expect(lives.get("payment")).to.deep.equal([DAY, 15 * MINUTE]);
  });

  it("work that was paid for and not delivered for 30 days beyond the authorization, and how it ended for 30 days", async () => {
    await open();
    shop.handler = () => {
      throw new Problem("upstream-failed", "The dice fell off the table");
    };
    const payment = await shop.pay("/v1/echo");
    expect((await send(payment, "/v1/echo")).status).to.equal(502);
    expect(new Set([...(lives.get("payment") ?? []), ...(lives.get("open") ?? [])])).to.deep.equal(
      new Set([VALID + 30 * DAY]),
    );
    shop.handler = undefined;
    expect((await shop.retry("/v1/echo", ROLL, payment)).status).to.equal(200);
    expect(lives.get("owed-end")).to.deep.equal([30 * DAY]);
    expect(lives.get("payment")?.at(-1)).to.equal(15 * MINUTE);
  });

  it("for a day who did not pay for work, and for an hour who left it", async () => {
    await open();
    refuse();
    expect((await send(await shop.pay("/v1/roll"))).status).to.equal(402);
    expect(lives.get("pays-first")).to.deep.equal([DAY]);
    const leaving = new AbortController();
    await shop.store.delete(`pays-first:${PAYER}`);
    shop.handler = () => {
      leaving.abort();
      return new Promise(() => {});
    };
    const payment = await shop.pay("/v1/roll");
    await shop.post("/v1/roll", ROLL, { "payment-signature": payment }, leaving.signal).catch(() => {});
    await eventually(() => lives.has("left"));
    expect(lives.get("left")).to.deep.equal([HOUR]);
  });

  it("for a day that a facilitator has lied, and about which payment, but the answer no longer than others", async () => {
    await open({ patience: { confirmAfterMs: 10, claimMs: 0 } });
    shop.rail.script.settle = claims(`0x${"fe".repeat(32)}`);
    expect((await send(await shop.pay("/v1/roll"))).status).to.equal(200);
    await eventually(() => lives.has("untrusted") && lives.has("sought"));
    expect(lives.get("untrusted")).to.deep.equal([DAY]);
    expect(lives.get("sought")?.[0]).to.equal(VALID + DAY);
    expect(lives.get("payment")).to.deep.equal([VALID + DAY, 15 * MINUTE]);
    const [sought] = [...shop.store.entries.keys()].filter((key) => key.startsWith("sought:"));
    expect(await shop.store.get(sought ?? "")).not.to.have.property("output");
  });
});
