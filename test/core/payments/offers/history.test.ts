import { expect } from "chai";
import { createOfferHistory, type OfferHistory } from "../../../../runtime/core/payments/offers/history.ts";
import type { PaymentRequirements } from "../../../../runtime/core/x402/x402.ts";
import { type FrozenTime, freezeTime } from "../../../support/frozen-time.ts";
import { createMemoryStore } from "../../../support/store/memory-store.ts";

const network = "eip155:8453";
const toOffer = (amount: string, payTo = "0x2"): PaymentRequirements => ({
  scheme: "exact",
  network,
  asset: "0x1",
  amount,
  payTo,
  maxTimeoutSeconds: 300,
  extra: {},
});
const toSet = (amount: string, payTo?: string) => new Map([["roll", [toOffer(amount, payTo)]]]);

describe("the offers that were made", () => {
  let time: FrozenTime;
  let store: ReturnType<typeof createMemoryStore>;
  let reads: number;
  let errors: unknown[];
  const opened: OfferHistory[] = [];
  const clock = { now: () => Date.now() };
  const open = (): OfferHistory => {
    const onError = (error: unknown): void => void errors.push(error);
    const history = createOfferHistory({ store, offerSeconds: 300, onError });
    opened.push(history);
    return history;
  };
  const recipients = async (history: OfferHistory, amount: string, service = "roll"): Promise<string[]> =>
    (await history.earlier(service, { network, amount })).map(({ payTo }) => payTo);
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

  it("are told by service, network and amount, those of a moment ago too, also to other processes", async () => {
    const [one, other] = [open(), open()];
    await one.publish(toSet("1"));
    await one.publish(toSet("2"));
    for (const history of [one, other]) {
      for (const amount of ["1", "2"]) expect(await recipients(history, amount)).to.deep.equal(["0x2"]);
      expect(await recipients(history, "3")).to.deep.equal([]);
      expect(await recipients(history, "1", "echo")).to.deep.equal([]);
      expect(await history.earlier("roll", { network: "eip155:1", amount: "1" })).to.deep.equal([]);
    }
  });

  it("are kept for as long as somebody makes them, and for seven minutes afterwards", async () => {
    const history = open();
    await history.publish(toSet("1"));
    for (let minute = 0; minute < 30; minute += 1) await time.pass(60_000);
    expect(await recipients(history, "1")).to.deep.equal(["0x2"]);
    history.close();
    time.stall(7 * 60_000 - 1);
    expect(await recipients(open(), "1")).to.deep.equal(["0x2"]);
    time.stall(1);
    expect(await recipients(open(), "1")).to.deep.equal([]);
  });

  it("are not kept for longer where this process makes others since, and renews those", async () => {
    const history = open();
    await history.publish(toSet("1"));
    await history.publish(toSet("2"));
    for (let minute = 0; minute < 8; minute += 1) await time.pass(60_000);
    expect(await recipients(history, "1")).to.deep.equal([]);
    expect(await recipients(history, "2")).to.deep.equal(["0x2"]);
  });

  it("are kept for seven minutes from the moment at which others were made instead", async () => {
    const history = open();
    await history.publish(toSet("1"));
    time.stall(50_000); // Since the last renewal.
    await history.publish(toSet("2"));
    time.stall(7 * 60_000 - 1);
    expect(await recipients(open(), "1")).to.deep.equal(["0x2"]);
    expect(await recipients(open(), "2")).to.deep.equal(["0x2"]);
  });

  it("may be of any number of prices, and a reading costs the same", async () => {
    const history = open();
    for (let amount = 0; amount < 500; amount += 1) await history.publish(toSet(String(amount)));
    reads = 0;
    expect(await recipients(history, "0")).to.deep.equal(["0x2"]);
    expect(reads).to.equal(64);
    for (const odd of ["", "1e3", "9".repeat(500)]) expect(await recipients(history, odd)).to.deep.equal([]);
    expect(reads, "what is no amount is not looked for").to.equal(64);
  });

  it("take one place for all who make the same, and 64 for one price: the next one is refused with a sentence", async () => {
    await open().publish(toSet("1", "0x0"));
    await open().publish(toSet("1", "0x0"));
    for (let at = 1; at < 64; at += 1) await open().publish(toSet("1", `0x${at}`));
    const refused = await open()
      .publish(toSet("1", "0x64"))
      .catch((error: unknown) => error);
    expect(refused).to.have.property("code", "unavailable");
    expect(refused)
      .to.have.property("message")
      .that.matches(/more than 64 .* try again in 7 minutes$/);
    await open().publish(toSet("1", "0x63"));
    expect(await recipients(open(), "1")).to.have.length(64);
  });

  it("that could not be kept are told of", async () => {
    await open().publish(toSet("1"));
    store.putIfAbsent = () => Promise.reject(new Error("the store is gone"));
    await time.pass(60_000);
    expect(errors).to.have.length(1);
  });
});
