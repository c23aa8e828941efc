import { expect } from "chai";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { encode } from "../../support/sellers/signed.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const NOW = 1_800_000_000;
const DAY = 24 * 60 * 60;

describe("the time of an authorization", () => {
  let shop: Shop;
  beforeEach(async () => {
    const clock = { now: () => NOW * 1000 + 999, advance: () => {} };
    shop = await openShop({ clock, store: createMemoryStore(clock.now) });
  });
  afterEach(() => shop.close());

  /** What a payment is answered that is valid for so long from now on. */
  const buy = async (path: string, validForSeconds: number): Promise<string> => {
    const response = await shop.post(path, ROLL, { "payment-signature": await shop.pay(path, { validForSeconds }) });
    if (response.status === 200) return "sold";
    const { error } = (await response.json()) as { error: string };
    return error.split(":", 1)[0] as string;
  };

  it("must last for the work, which may take 20 seconds, and for six more", async () => {
    expect(await buy("/v1/roll", 26)).to.equal("sold");
    expect(await buy("/v1/roll", 25)).to.equal("payment_expired");
  });

  it("must last for the work still when that begins, however long its verification took", async () => {
    let now = NOW * 1000;
    const clock = { now: () => now, advance: () => {} };
    const slow = await openShop({ clock, store: createMemoryStore(clock.now) });
    try {
      const send = async (validForSeconds: number): Promise<[number, number, number]> => {
        const payment = await slow.pay("/v1/roll", { validForSeconds });
        slow.rail.script.verify = () => {
          now += 8000;
          return { isValid: true };
        };
        const { status } = await slow.post("/v1/roll", ROLL, { "payment-signature": payment });
        return [status, slow.executions, slow.rail.asked.settle];
      };
      expect(await send(33)).to.deep.equal([402, 0, 0]);
      expect(await send(34)).to.deep.equal([200, 1, 1]);
    } finally {
      await slow.close();
    }
  });

  it("must last for six seconds where the money moves first", async () => {
    expect(await buy("/v1/echo", 6)).to.equal("sold");
    expect(await buy("/v1/echo", 5)).to.equal("payment_expired");
  });

  it("is told until when it must last at least, where it ends too soon", async () => {
    const told = async (path: string): Promise<string> => {
      const payment = await shop.pay(path, { validForSeconds: 5 });
      const response = await shop.post(path, ROLL, { "payment-signature": payment });
      return ((await response.json()) as { error: string }).error;
    };
    const ends = `payment_expired: payload.authorization.validBefore is ${NOW + 5}, and must be`;
    expect(await told("/v1/roll")).to.equal(`${ends} ${NOW + 26} at least: now is ${NOW}`);
    expect(await told("/v1/echo")).to.equal(`${ends} ${NOW + 6} at least: now is ${NOW}`);
  });

  it("is told until when it lasts as it was signed, where it lasts too long", async () => {
    const validBefore = String(2n ** 256n - 1n);
    const paid = Buffer.from(await shop.pay("/v1/roll"), "base64").toString();
    const payment = Buffer.from(paid.replace(/(?<="validBefore":")\d+/, validBefore)).toString("base64");
    const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect(((await response.json()) as { error: string }).error).to.equal(
      `payment_valid_too_long: payload.authorization.validBefore is ${validBefore}, and now is ${NOW}`,
    );
  });

  it("must not last for more than a day", async () => {
    expect(await buy("/v1/roll", DAY)).to.equal("sold");
    expect(await buy("/v1/roll", DAY + 1)).to.equal("payment_valid_too_long");
    expect(shop.rail.asked).to.include({ verify: 1, settle: 1 });
  });

  it("matters no more to a call that is running: its payment again is 409, not a new challenge", async () => {
    let now = NOW * 1000;
    const clock = { now: () => now, advance: () => {} };
    const late = await openShop({ clock, store: createMemoryStore(clock.now) });
    try {
      const [started, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      late.handler = async () => {
        started.resolve();
        await proceed.promise;
        return { value: 1, executions: 1 };
      };
      const payment = await late.pay("/v1/roll", { validForSeconds: 30 });
      const first = late.post("/v1/roll", ROLL, { "payment-signature": payment });
      await started.promise;
      now += 10_000;
      const again = await late.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect([again.status, again.headers.get("retry-after")]).to.deep.equal([409, "1"]);
      expect(await again.json()).to.have.property("code", "payment-in-progress");
      proceed.resolve();
      expect((await first).status).to.equal(200);
      expect((await late.retry("/v1/roll", ROLL, payment)).status, "afterwards").to.equal(200);
      expect(late.rail.asked.settle).to.equal(1);
    } finally {
      await late.close();
    }
  });

  it("must have begun", async () => {
    const send = async (seconds: number): Promise<Response> => {
      const header = JSON.parse(Buffer.from(await shop.pay("/v1/roll"), "base64").toString());
      header.payload.authorization.validAfter = String(NOW + seconds);
      const payment = encode(header);
      return shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    };
    expect(await (await send(1)).json())
      .to.have.property("error")
      .that.matches(/^payment_not_yet_valid/);
    expect((await send(0)).status).to.equal(200);
  });
});

describe("a price from which the chain must show the transfer", () => {
  const CHECKED = { limits: { confirm_above_usd: "0.5" } };
  for (const [price, limits, looks] of [
    ["0.999999", {}, 0],
    ["1", {}, 1],
    ["0.499999", CHECKED, 0],
    ["0.5", CHECKED, 1],
  ] as const)
    it(`is ${"limits" in limits ? "what the site says" : "one dollar"}: ${price} is ${looks ? "" : "not "}looked up before the answer`, async () => {
      const rail = createScriptedRail();
      const shop = await openShop({ rail, price, ...limits, patience: { confirmAfterMs: 60_000 } });
      expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
      expect(rail.asked.find).to.equal(looks);
      await shop.close();
    });
});
