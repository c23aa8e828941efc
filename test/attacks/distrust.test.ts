import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { createFacilitatorTrust, type FacilitatorTrust } from "../../runtime/core/payments/trust.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import type { Facilitator, SettleResponse } from "../../runtime/core/x402/x402.ts";
import { createFailover } from "../../runtime/drivers/facilitator/failover.ts";
import { createMember, type FacilitatorMember } from "../../runtime/drivers/facilitator/member.ts";
import { createScriptedRail, move } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

const FALSE = `0x${"fe".repeat(32)}`;
const BASE = "eip155:8453";

/** Everything that waits for a chain or a facilitator does so briefly. */
const patience = { silenceMs: 20, confirmMs: 100, confirmAfterMs: 10, claimMs: 0 };

describe("a facilitator that lies, beside one that does not", () => {
  const rail = createScriptedRail({ facilitator: ["first", "second"] });
  const asked: string[] = [];
  let lies: boolean;
  let trust: FacilitatorTrust;
  let shop: Shop;
  let members: FacilitatorMember[];

  const open = async (price = "0.001"): Promise<void> => {
    asked.length = 0;
    lies = true;
    const clock = { now: Date.now };
    const store = createMemoryStore(clock.now);
    trust = createFacilitatorTrust({ site: { rails: [rail.manifest] }, store, clock, log: silentLog });
    const toMember = (name: string, settle: Facilitator["settle"]): FacilitatorMember =>
      createMember({ name, facilitator: { ...rail.facilitator, settle }, log: silentLog });
    members = [
      toMember("first", async (payment, offer): Promise<SettleResponse> => {
        asked.push("first");
        // A liar may also say that it is another one.
        const lie = { by: "second", success: true, transaction: FALSE, network: BASE };
        return lies ? lie : move(rail, payment, offer);
      }),
      toMember("second", async (payment, offer) => {
        asked.push("second");
        return move(rail, payment, offer);
      }),
    ];
    const isTrusted = (name: string, network: string): boolean => !trust.reasonAgainst(name, network);
    const facilitator = createFailover({ members, settlements: rail.settlements, isTrusted, log: silentLog });
    shop = await openShop({ rail: { ...rail, facilitator }, store, trust, patience, price });
  };
  afterEach(async () => {
    await shop.close();
    for (const member of members) member.close();
    rail.moved.clear();
  });
  const found = (): Promise<unknown> => eventually(() => trust.distrusted().length > 0);

  it("is passed over after one cheap call, and the rail stays up: the other one settles from then on", async () => {
    await open();
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    await found();
    await eventually(() => rail.moved.size === 1); // The other one settles what the liar has not.
    expect(asked).to.deep.equal(["first", "second"]);
    expect(trust.distrusted()).to.have.length(1);
    expect(trust.distrusted()[0]).to.include({ facilitator: "first", network: BASE });
    asked.length = 0;
    for (let time = 0; time < 3; time += 1) {
      const sold = await shop.buy("/v1/roll", ROLL);
      expect([sold.status, shop.receipt(sold).success]).to.deep.equal([200, true]);
    }
    expect(asked).to.deep.equal(["second", "second", "second"]);
    expect(rail.moved.size).to.equal(4);
  });

  it("leaves a sale that counts, however long the book takes to be told that the liar's settlement is not there", async () => {
    await open();
    const { enter } = shop.store;
    shop.store.enter = async (event, entry) => {
      for (let turn = 0; event.kind === "reversal" && turn < 100; turn += 1) await setImmediate();
      return enter(event, entry);
    };
    await shop.buy("/v1/roll", ROLL);
    await eventually(() => rail.moved.size === 1);
    const kinds = (): string => [...(shop.store.events?.values() ?? [])].map(({ kind }) => kind).join(" ");
    await eventually(() => kinds().includes("reversal"));
    await eventually(() => kinds() === "sale reversal restoration");
  });

  it("does not cost a buyer of a dear answer a second charge: the other one settles the same payment, once", async () => {
    await open("1");
    const payment = await shop.pay("/v1/roll");
    const doubtful = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
    expect([doubtful.status, ((await doubtful.json()) as { code: string }).code]).to.deep.equal([
      503,
      "settlement-unknown",
    ]);
    const settled = async (): Promise<boolean> => (await shop.retry("/v1/roll", ROLL, payment)).status === 200;
    await eventually(settled);
    const { nonce } = (
      JSON.parse(Buffer.from(payment, "base64").toString()) as { payload: { authorization: { nonce: string } } }
    ).payload.authorization;
    expect([...rail.moved.keys()]).to.deep.equal([nonce]);
    expect(asked.filter((name) => name === "second")).to.have.length(1);
    expect(
      trust.distrusted().map(({ facilitator }) => facilitator),
      "the liar stays one",
    ).to.deep.equal(["first"]);
  });
});

describe("a settlement that the node of one process does not show, and that of another one does", () => {
  it("counts again after a crash, also when the other process had just struck it out", async () => {
    const { enter, ...store } = createMemoryStore();
    const listed = (): string[] => [...store.entries.keys()].filter((key) => key.startsWith("open:"));
    const entered = (kind: string): boolean => [...(store.events ?? [])].some(([, event]) => event.kind === kind);
    const shop = await openShop({
      patience,
      store: {
        ...store,
        async enter(event, entry) {
          if (event.kind === "reversal") for (const key of listed()) await store.delete(key);
          return enter(event, entry);
        },
      },
    });
    shop.rail.script.find = () => ({ state: "open" });
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    await eventually(() => entered("reversal") && listed().length > 0);
    delete shop.rail.script.find;
    await shop.restart();
    await eventually(() => entered("restoration"));
    await shop.close();
  });

  it("is no lie to another process whose clock is minutes ahead, when it looks before the block", async () => {
    const store = createMemoryStore();
    const shop = await openShop({ store, patience: { ...patience, confirmAfterMs: 60_000 } });
    expect((await shop.buy("/v1/roll", ROLL)).status).to.equal(200);
    const { rail, clock } = shop;
    rail.script.find = () => ({ state: "open" });
    const ahead = { now: () => clock.now() + 5 * 60_000, advance: clock.advance };
    const terms = { patience: { ...patience, claimMs: 60_000 }, rail, store, clock: ahead, baseUrl: shop.url };
    const other = await openShop(terms); // Looks at once.
    const has = (kept: RegExp): boolean => [...store.entries.keys()].some((key) => kept.test(key));
    await eventually(() => has(/^sought:/));
    expect((await other.post("/v1/roll", {})).status).to.equal(402);
    expect(has(/^(?:untrusted|doubted):/)).to.equal(false);
    await Promise.all([shop.close(), other.close()]);
  });
});
