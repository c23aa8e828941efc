import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import type { JobEnd, JobRecord } from "../../../runtime/core/jobs/records.ts";
import { createTrials } from "../../../runtime/core/payments/trials.ts";
import type { Service } from "../../../runtime/core/service.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";

const PATH = "/v1/echo";
const fail = (): never => {
  throw new Problem("upstream-failed", "Out of order.");
};
const walletOf = (number: number): string => `0x${String(number).padStart(40, "0")}`;

describe("work that is paid first and always fails", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
    shop.handler = fail;
  });
  afterEach(() => shop.close());

  const send = (payment: string): Promise<Response> => shop.retry(PATH, ROLL, payment);
  const buyAs = async (buyer: number): Promise<Response> => send(await shop.pay(PATH, { from: walletOf(buyer) }));
  const statusFor = async (buyer: number): Promise<number> => (await buyAs(buyer)).status;

  it("is sold no more after it has failed for five buyers in a row, until work is delivered again", async () => {
    const first = await shop.pay(PATH, { from: walletOf(1) });
    expect((await send(first)).status).to.equal(502);
    expect((await send(first)).status, "the same payment again").to.equal(502);
    for (let buyer = 2; buyer <= 5; buyer += 1) expect(await statusFor(buyer)).to.equal(502);
    const refused = await buyAs(6);
    const { code, detail } = (await refused.json()) as { code: string; detail: string };
    expect([refused.status, code, refused.headers.get("retry-after")]).to.deep.equal([503, "unavailable", "30"]);
    expect(detail).to.match(/^The work of the last 5 buyers has failed.*nothing was charged$/);
    expect(shop.rail.moved.size).to.equal(5);

    shop.clock.advance(31_000);
    expect(await statusFor(6), "one buyer tries it").to.equal(502);
    expect(await statusFor(7), "and the next one waits").to.equal(503);
    expect(shop.rail.moved.size).to.equal(6);

    shop.handler = undefined;
    expect((await send(first)).status, "what was paid for is tried again").to.equal(200);
    expect(await statusFor(8)).to.equal(200);
    expect(shop.rail.moved.size).to.equal(7);
  });

  it("is tried again at once when the clock was set back", async () => {
    for (let buyer = 1; buyer <= 5; buyer += 1) expect(await statusFor(buyer)).to.equal(502);
    expect(await statusFor(6)).to.equal(503);
    shop.clock.advance(-3_600_000);
    shop.handler = undefined;
    expect(await statusFor(6)).to.equal(200);
  });

  it("is not sold to one for whom it has failed five times, and to everybody else", async () => {
    const first = await shop.pay(PATH, { from: walletOf(1) });
    for (let at = 0; at < 5; at += 1) expect((await send(first)).status, "one payment counts once").to.equal(502);
    for (let at = 1; at < 5; at += 1) expect(await statusFor(1)).to.equal(502);
    const refused = await buyAs(1);
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "30"]);
    const { detail } = (await refused.json()) as { detail: string };
    expect(detail).to.match(/^The work of the last 5 payments of this buyer has failed.*nothing was charged$/);
    expect(shop.rail.moved.size).to.equal(5);
    shop.handler = undefined;
    expect(await statusFor(2)).to.equal(200);
  });

  it("is not sold to one for whom it always fails because others get theirs", async () => {
    for (let at = 0; at < 5; at += 1) {
      shop.handler = fail;
      expect(await statusFor(1)).to.equal(502);
      shop.handler = undefined;
      expect(await statusFor(2)).to.equal(200);
    }
    shop.handler = fail;
    expect(await statusFor(1)).to.equal(503);
    shop.clock.advance(31_000);
    expect(await statusFor(1), "tried again").to.equal(502);
    shop.clock.advance(31_000);
    expect(await statusFor(1), "after twice the rest").to.equal(503);
    shop.clock.advance(30_000);
    shop.handler = undefined;
    expect(await statusFor(1)).to.equal(200);
    shop.handler = fail;
    expect(await statusFor(1), "what was delivered to this buyer counts").to.equal(502);
  });

  it("keeps one waiting no longer than it says, whose own rest ends while the service rests for all", async () => {
    for (let at = 0; at < 5; at += 1) expect(await statusFor(1)).to.equal(502);
    shop.clock.advance(10_000);
    for (let buyer = 2; buyer <= 5; buyer += 1) expect(await statusFor(buyer)).to.equal(502);
    shop.clock.advance(21_000);
    const refused = await buyAs(1);
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([503, "9"]);
    shop.clock.advance(9000);
    shop.handler = undefined;
    expect(await statusFor(1)).to.equal(200);
  });

  it("is tried by one buyer after a rest, and sold to the others once it is delivered", async () => {
    for (let buyer = 1; buyer <= 5; buyer += 1) await buyAs(buyer);
    shop.clock.advance(31_000);
    const reached = Promise.withResolvers<void>();
    const done = Promise.withResolvers<object>();
    shop.handler = () => {
      reached.resolve();
      return done.promise;
    };
    const trying = buyAs(6);
    await reached.promise;
    expect(await Promise.all([statusFor(7), statusFor(8)])).to.deep.equal([503, 503]);
    done.resolve({ value: 1 });
    expect((await trying).status).to.equal(200);
    expect(await statusFor(9)).to.equal(200);
  });
});

describe("jobs that are paid and always fail", () => {
  const service = { manifest: { id: "dig" }, job: {} } as unknown as Service;
  const jobOf = (buyer: number): Pick<JobRecord, "service" | "begun"> => {
    const settled = { network: "eip155:8453", asset: "0xa", amount: "1000", transaction: "0xb" };
    const payment = { ...settled, payer: walletOf(buyer) };
    return { service: "dig", begun: { at: 0, payment } };
  };
  const FAILED: JobEnd = { state: "FAILED", at: 0, error: "It fell" };
  const DELIVERED: JobEnd = { state: "DELIVERED", at: 0, deliverable: {} };
  const buyerOf = (buyer: number): string => `eip155:8453:${walletOf(buyer)}`;

  it("are sold no more after twenty buyers' jobs in a row, until one is delivered", () => {
    const trials = createTrials({ services: [service], clock: { now: () => 0 }, log: silentLog });
    for (let buyer = 1; buyer <= 19; buyer += 1) trials.ended(jobOf(buyer), FAILED);
    trials.ended(jobOf(19), FAILED);
    trials.ended({ service: "dig", begun: { at: 0, payment: null } }, FAILED);
    trials.enter(service, buyerOf(21));
    trials.ended(jobOf(20), FAILED);
    expect(() => trials.enter(service, buyerOf(21))).to.throw(Problem, "The work of the last 20 buyers has failed");
    expect(trials.reasonAgainst("dig")).to.match(/^The work of the last 20 buyers/);
    trials.ended(jobOf(3), DELIVERED);
    trials.enter(service, buyerOf(21));
  });

  it("are not sold to one for whom twenty have failed", () => {
    const trials = createTrials({ services: [service], clock: { now: () => 0 }, log: silentLog });
    for (let at = 0; at < 20; at += 1) {
      trials.ended(jobOf(1), FAILED);
      trials.ended(jobOf(2), DELIVERED);
    }
    expect(() => trials.enter(service, buyerOf(1))).to.throw(Problem, "20 payments of this buyer");
    trials.enter(service, buyerOf(2));
  });

  it("are still sold where those in line were for another form of the service, which a new set has changed", () => {
    const trials = createTrials({ services: [service], clock: { now: () => 0 }, log: silentLog });
    for (let buyer = 1; buyer <= 20; buyer += 1) trials.ended(jobOf(buyer), { ...FAILED, isWithdrawn: true });
    trials.enter(service, buyerOf(21));
    expect(trials.reasonAgainst("dig")).to.equal(undefined);
  });
});
