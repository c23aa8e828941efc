import { expect } from "chai";
import { createOfferHistory, type OfferHistory } from "../../../runtime/core/payments/offer-history.ts";
import type { PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const toOffer = (amount: string): PaymentRequirements => ({
  ...{ scheme: "exact", network: "eip155:8453", asset: "0x1", amount, payTo: "0x2", maxTimeoutSeconds: 300, extra: {} },
});
const toSet = (amount: string) => new Map([["roll", [toOffer(amount)]]]);

describe("the offers that were made", () => {
  let time: FrozenTime;
  let store: ReturnType<typeof createMemoryStore>;
  let reads: number;
  let errors: unknown[];
  const opened: OfferHistory[] = [];
  const clock = { now: () => Date.now() };
  const open = (): OfferHistory => {
    const onError = (error: unknown): void => void errors.push(error);
    const history = createOfferHistory({ store, clock, offerSeconds: 300, onError });
    opened.push(history);
    return history;
  };
  const amounts = async (history: OfferHistory, service = "roll"): Promise<string[]> =>
    (await history.earlier(service)).map(({ amount }) => amount);
  beforeEach(() => {
    time = freezeTime();
    store = createMemoryStore(clock.now);
    [reads, errors] = [0, []];
    const { get } = store;
    store.get = (key) => {
      reads += 1;
      return get(key);
    };
  });
  afterEach(() => {
    for (const history of opened.splice(0)) history.close();
    time.thaw();
  });

  it("are told by service, those of a moment ago too, also to other processes", async () => {
    const [one, other] = [open(), open()];
    await one.publish(toSet("1"));
    await one.publish(toSet("2"));
    for (const history of [one, other]) {
      expect(await amounts(history)).to.have.members(["1", "2"]);
      expect(await amounts(history, "echo")).to.deep.equal([]);
    }
  });

  it("are kept for as long as somebody makes them, and for seven minutes afterwards", async () => {
    const history = open();
    await history.publish(toSet("1"));
    for (let minute = 0; minute < 30; minute += 1) await time.pass(60_000);
    expect(await amounts(history)).to.deep.equal(["1"]);
    history.close();
    time.stall(7 * 60_000 - 1);
    expect(await amounts(open())).to.deep.equal(["1"]);
    time.stall(1);
    expect(await amounts(open())).to.deep.equal([]);
  });

  it("are kept for seven minutes from the moment at which others were made instead", async () => {
    const history = open();
    await history.publish(toSet("1"));
    time.stall(50_000); // Since the last renewal.
    await history.publish(toSet("2"));
    time.stall(7 * 60_000 - 1);
    expect(await amounts(open())).to.include("1");
  });

  it("are read once in a fifth of a second, at once after a change, and again when the clock was put back", async () => {
    const history = open();
    await history.publish(toSet("1"));
    reads = 0;
    await amounts(history);
    expect(reads, "all places").to.equal(64);
    time.stall(200);
    await amounts(history);
    expect(reads).to.equal(64);
    time.stall(1);
    await amounts(history);
    expect(reads).to.equal(128);
    time.stall(-300);
    await amounts(history);
    expect(reads).to.equal(192);
    await history.publish(toSet("2"));
    expect(await amounts(history)).to.include("2");
  });

  it("are read again at once after the store has failed", async () => {
    const history = open();
    await history.publish(toSet("1"));
    const { get } = store;
    const failure = new Error("the store is gone");
    store.get = () => Promise.reject(failure);
    expect(await history.earlier("roll").catch((error: unknown) => error)).to.equal(failure);
    store.get = get;
    expect(await amounts(history)).to.deep.equal(["1"]);
  });

  it("take one place for all who make the same, and 64 in all: the next ones are refused", async () => {
    await open().publish(toSet("0"));
    await open().publish(toSet("0"));
    for (let at = 1; at < 64; at += 1) await open().publish(toSet(String(at)));
    const refused = await open()
      .publish(toSet("64"))
      .catch((error: unknown) => error);
    expect(refused).to.have.property("code", "unavailable");
    await open().publish(toSet("63"));
    expect(await amounts(open())).to.have.length(64);
  });

  it("that could not be kept are told of", async () => {
    await open().publish(toSet("1"));
    store.putIfAbsent = () => Promise.reject(new Error("the store is gone"));
    await time.pass(60_000);
    expect(errors).to.have.length(1);
  });
});
