import { expect } from "chai";
import { createCoverage } from "../../../runtime/drivers/facilitator/local/coverage.ts";
import {
  createGasBudget,
  type GasBudget,
  type GasPayer,
} from "../../../runtime/drivers/facilitator/local/gas-budget.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { noteLives } from "../../support/store/note-lives.ts";

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;
const never: AbortSignal = new AbortController().signal;
const contract = (name: string): GasPayer => ({ address: name, isContract: true });
const account: GasPayer = { address: "0xaccount", isContract: false };

describe("the budget of lost gas", () => {
  let now: number;
  let budget: GasBudget;
  let hashes: number;
  beforeEach(() => {
    now = 0;
    hashes = 0;
    budget = createGasBudget(
      createMemoryStore(() => now),
      "eip155:8453",
    );
  });

  const loss = () => ({ hash: `0x${++hashes}`, feeWei: 3n * 10n ** 9n });
  const isReserved = async (payer: GasPayer): Promise<boolean> => (await budget.reserve(payer, never)) !== undefined;
  /** Whether it would have to wait for a place. */
  const isFull = async (payer: GasPayer): Promise<boolean> => {
    const gone = AbortSignal.abort(new Error("full"));
    return budget.reserve(payer, gone).then(
      () => false,
      ({ message }: Error) => message === "full",
    );
  };

  it("lets a contract have five transactions in flight, and the next when one of them is included", async () => {
    const payer = contract("0xa");
    const places = await Promise.all(Array.from({ length: 5 }, () => budget.reserve(payer, never)));
    expect(await isFull(payer)).to.equal(true);
    expect(await isFull(contract("0xb"))).to.equal(false);
    await places[3]?.release();
    expect(await isReserved(payer)).to.equal(true);
  });

  it("refuses a contract that has lost five within a day", async () => {
    const payer = contract("0xa");
    for (let time = 0; time < 5; time += 1) {
      expect(await budget.isSpent(payer)).to.equal(false);
      await (await budget.reserve(payer, never))?.lose(loss());
    }
    expect([await budget.isSpent(payer), await isReserved(payer)]).to.deep.equal([true, false]);
    now += DAY_MS;
    expect([await budget.isSpent(payer), await isReserved(payer)]).to.deep.equal([false, true]);
  });

  it("lets an ordinary account have any number in flight until its first loss", async () => {
    const places = await Promise.all(Array.from({ length: 64 }, () => budget.reserve(account, never)));
    expect(places).not.to.include(undefined);
    for (const place of places.slice(0, 4)) await place?.lose(loss());
    expect(await isReserved(account)).to.equal(true);
    expect(await isFull(account)).to.equal(true);
    await places[4]?.lose(loss());
    for (const place of places.slice(5)) await place?.release();
    now += HOUR_MS;
    await budget.lose(account, loss());
    expect(await budget.isSpent(account)).to.equal(true);
  });

  it("counts a transaction once, whoever reports it", async () => {
    const payer = contract("0xa");
    const lost = loss();
    await (await budget.reserve(payer, never))?.lose(lost);
    for (let time = 0; time < 9; time += 1) await budget.lose(payer, lost);
    expect(await budget.total()).to.deep.equal({ transactions: 1, gwei: 4 });
    expect(await budget.isSpent(payer)).to.equal(false);
  });

  it("frees the place of a transaction whose loss another process has counted before", async () => {
    const payer = contract("0xa");
    const lost = loss();
    const place = await budget.reserve(payer, never);
    await budget.lose(payer, lost);
    await place?.lose(lost);
    for (let more = 0; more < 4; more += 1) expect(await isFull(payer)).to.equal(false);
    expect(await isFull(payer)).to.equal(true);
  });

  it("frees the places of a process that crashed after an hour", async () => {
    const payer = contract("0xa");
    for (let time = 0; time < 5; time += 1) await budget.reserve(payer, never);
    expect(await isFull(payer)).to.equal(true);
    now += HOUR_MS;
    expect(await isReserved(payer)).to.equal(true);
  });

  it("takes only contracts that have paid before once many contracts have burned gas", async () => {
    const customer = contract("0xcustomer");
    await budget.trust(customer);
    for (let time = 0; time < 25; time += 1) await (await budget.reserve(contract(`0x${time}`), never))?.lose(loss());
    expect(await budget.isSpent(contract("0xnew"))).to.equal(true);
    expect(await budget.isSpent(customer)).to.equal(false);
    expect(await budget.isSpent(account)).to.equal(false);
    now += DAY_MS;
    expect(await budget.isSpent(contract("0xnew"))).to.equal(false);
  });

  it("has no more unknown contracts in flight than may still be lost, though each has a place of its own", async () => {
    const trusted = contract("0xtrusted");
    await budget.trust(trusted);
    const places = await Promise.all(Array.from({ length: 25 }, (_, at) => budget.reserve(contract(`0x${at}`), never)));
    expect([await isFull(contract("0xnew")), await isFull(trusted)]).to.deep.equal([true, false]);
    await places[0]?.release();
    expect(await isReserved(contract("0xnew"))).to.equal(true);
    for (const place of places.slice(1)) await place?.lose(loss());
    expect(await isFull(contract("0xother")), "24 are lost, and one is in flight").to.equal(true);
  });

  it("takes a contract that has burned gas for an unknown one until it pays again", async () => {
    const payers = Array.from({ length: 20 }, (_, at) => contract(`0x${at}`));
    for (const payer of payers) await budget.trust(payer);
    let lost = 0;
    for (const payer of [...payers, ...payers, ...payers]) {
      const place = await budget.reserve(payer, never);
      if (!place) continue;
      await place.lose(loss());
      lost += 1;
    }
    expect(lost).to.equal(25);
    const [first] = payers as [GasPayer];
    expect(await budget.isSpent(first)).to.equal(true);
    await budget.trust(first);
    expect(await budget.isSpent(first)).to.equal(false);
  });

  it("says what was lost within a day", async () => {
    expect(await budget.total()).to.equal(undefined);
    await budget.lose(contract("0xa"), loss());
    await budget.lose(account, loss());
    expect(await budget.total()).to.deep.equal({ transactions: 2, gwei: 8 });
    now += DAY_MS;
    expect(await budget.total()).to.equal(undefined);
  });

  it("remembers a place for an hour, a loss for a day and a contract that has paid for thirty", async () => {
    const store = createMemoryStore(() => now);
    const lives = noteLives(store);
    budget = createGasBudget(store, "eip155:8453");
    const payer = contract("0xa");
    await (await budget.reserve(payer, never))?.lose(loss());
    expect(lives.get("gas-place")).to.deep.equal([HOUR_MS, DAY_MS]);
    expect(lives.get("gas-loss")).to.deep.equal([DAY_MS]);
    expect(lives.get("gas-lost")).to.deep.equal([DAY_MS, DAY_MS, DAY_MS]);
    await budget.trust(payer);
    await budget.trust(account);
    expect(lives.get("gas-trust")).to.deep.equal([30 * DAY_MS]);
    await budget.lose(account, loss());
    expect(lives.get("gas-lost"), "an ordinary account's loss is no contract's").to.have.length(5);
    expect(lives.get("gas-place")?.slice(2)).to.deep.equal([DAY_MS]);
  });
});

describe("an amount that is being sent", () => {
  const payment = { id: "one", account: "0xa:0xb", value: "5", decimals: 0, balance: async () => 5n };
  let store: ReturnType<typeof createMemoryStore>;
  let did: string[];
  beforeEach(() => {
    store = createMemoryStore();
    did = [];
  });
  const place = { release: async () => void did.push("release"), lose: async () => void did.push("lose") };
  const hold = (change = {}, signal = never) =>
    createCoverage(store, "eip155:8453").hold(place, { ...payment, ...change }, signal);
  const inFlight = async () => (await store.join("being-sent:eip155:8453:0xa:0xb", "two", 0, HOUR_MS)).members - 1;

  it("is free where the balance cannot be read, which is told", async () => {
    await inFlight(); // Counts another one in flight: only then does the balance matter.
    const gone = new Error("the node is gone");
    const why = await hold({ balance: () => Promise.reject(gone) }, AbortSignal.timeout(10_000)).catch(
      (error) => error,
    );
    expect(why).to.equal(gone);
    expect(await inFlight()).to.equal(0);
  });

  it("is free with its place, also where its transaction has failed, whose loss counts", async () => {
    await (await hold()).release();
    expect(await inFlight()).to.equal(0);
    const held = await hold();
    expect(await inFlight()).to.equal(1);
    await held.lose({ hash: "0x1", feeWei: 1n });
    expect([await inFlight(), did]).to.deep.equal([0, ["release", "lose"]]);
  });
});
