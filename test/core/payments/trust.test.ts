import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { createFacilitatorTrust, type FacilitatorTrust } from "../../../runtime/core/payments/trust.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

const BASE = "eip155:8453";
const POLYGON = "eip155:137";
const NOW = 1_800_000_000_000;
const DAY = 24 * 60 * 60_000;

describe("the trust in a facilitator", () => {
  let now: number;
  let changes: number;
  let store: ReturnType<typeof createMemoryStore>;
  let trust: FacilitatorTrust;
  const clock = { now: () => now };
  const create = (): FacilitatorTrust =>
    createFacilitatorTrust({
      ...{ networks: [BASE, POLYGON], store, clock, log: silentLog },
      onChange: () => {
        changes += 1;
      },
    });
  beforeEach(() => {
    [now, changes] = [NOW, 0];
    store = createMemoryStore(clock.now);
    trust = create();
  });

  it("is withdrawn from one network, with the transaction that is not there", () => {
    expect(() => trust.check(BASE)).not.to.throw();
    trust.withdraw(BASE, "k", "0xfe");
    const reason =
      "The facilitator reported the settlement 0xfe at 2027-01-15T08:00:00.000Z, and the chain does not show it";
    expect(trust.reasonAgainst(BASE)).to.equal(reason);
    expect(() => trust.check(BASE))
      .to.throw(Problem, `${reason}; nothing was charged`)
      .with.deep.property("options", { retryAfter: 60 });
    expect(trust.reasonAgainst(POLYGON)).to.equal(undefined);
    expect(changes).to.equal(1);
  });

  it("is withdrawn once: the first doubt is the one that counts", () => {
    trust.withdraw(BASE, "one", "0x1");
    trust.withdraw(BASE, "two", "0x2");
    expect(trust.reasonAgainst(BASE)).to.match(/settlement 0x1 /);
    expect(changes).to.equal(1);
  });

  it("comes back after a day", () => {
    trust.withdraw(BASE, "k", "0xfe");
    now += DAY - 1;
    expect(trust.reasonAgainst(BASE)).to.be.a("string");
    now += 1;
    expect(trust.reasonAgainst(BASE)).to.equal(undefined);
  });

  it("comes back, in all processes, when the chain shows that payment after all, and no other", async () => {
    const other = create();
    trust.withdraw(BASE, "k", "0xfe");
    await other.refresh();
    expect(other.reasonAgainst(BASE)).to.be.a("string");
    trust.restore(BASE, "another");
    trust.restore(POLYGON, "k");
    expect(trust.reasonAgainst(BASE)).to.be.a("string");
    trust.restore(BASE, "k");
    expect([trust.reasonAgainst(BASE), changes]).to.deep.equal([undefined, 2]);
    trust.restore(BASE, "k");
    expect(changes).to.equal(2);
    await other.refresh();
    expect(other.reasonAgainst(BASE)).to.equal(undefined);
  });
});
