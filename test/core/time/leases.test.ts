import { expect } from "chai";
import { createLeases, type Leases, type LeasesOptions } from "../../../runtime/core/time/leases.ts";
import { type FrozenTime, freezeTime } from "../../support/frozen-time.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

describe("a lease", () => {
  let time: FrozenTime;
  let store: ReturnType<typeof createMemoryStore>;
  let errors: unknown[];
  const opened: Leases[] = [];
  const open = (options: Partial<LeasesOptions> = {}): Leases => {
    const leases = createLeases({ store, prefix: "lease:", onError: (error) => errors.push(error), ...options });
    opened.push(leases);
    return leases;
  };
  /** Renewals wait, as in a process that stops before it writes. @returns what lets them go on */
  function holdRenewals(): () => void {
    const { renew } = store;
    const { promise, resolve } = Promise.withResolvers<void>();
    store.renew = async (...args) => {
      await promise;
      return renew(...args);
    };
    return resolve;
  }
  beforeEach(() => {
    time = freezeTime();
    store = createMemoryStore(() => performance.now());
    errors = [];
  });
  afterEach(() => {
    for (const leases of opened.splice(0)) leases.close();
    time.thaw();
  });

  it("is had by one holder at a time, who says so, and by the next one after its release", async () => {
    const [one, other] = [open(), open()];
    const lease = await one.claim("k");
    expect([one.holds("k"), other.holds("k"), one.holds("another")]).to.deep.equal([true, false, false]);
    const isClaimed = await Promise.all([one.isClaimed("k"), other.isClaimed("k"), one.isClaimed("another")]);
    expect(isClaimed).to.deep.equal([true, true, false]);
    expect(await other.claim("k")).to.equal(undefined);
    expect(await one.claim("k"), "not even twice by one process").to.equal(undefined);
    await lease?.release();
    expect(one.holds("k")).to.equal(false);
    expect(await other.claim("k")).not.to.equal(undefined);
    await lease?.release();
    expect(await one.claim("k"), "a second release releases nothing").to.equal(undefined);
  });

  it("is not taken from its next holder by a release that arrives late", async () => {
    const [one, other, third] = [open(), open(), open()];
    const lease = await one.claim("k");
    const { drop, delete: remove } = store;
    let next: unknown;
    const takeOver = async (): Promise<void> => {
      await remove("lease:k"); // It has lapsed meanwhile.
      next ??= await other.claim("k");
    };
    store.drop = async (...terms) => takeOver().then(() => drop(...terms));
    store.delete = async (...terms) => takeOver().then(() => remove(...terms));
    await lease?.release();
    expect(next).not.to.equal(undefined);
    expect(await third.claim("k")).to.equal(undefined);
  });

  it("is had once in its process, also when the store's clock was set forward", async () => {
    let aheadMs = 0;
    store = createMemoryStore(() => performance.now() + aheadMs);
    const leases = open();
    const lease = await leases.claim("k");
    aheadMs = 3_600_000;
    expect(await leases.claim("k")).to.equal(undefined);
    await lease?.release();
    expect(await leases.claim("k")).not.to.equal(undefined);
  });

  it("is renewed five times in its life of two seconds, until its process closes", async () => {
    const leases = open();
    await leases.claim("k");
    let renewals = 0;
    const { renew } = store;
    store.renew = async (...args) => {
      renewals += 1;
      return renew(...args);
    };
    await time.pass(380);
    expect(renewals).to.equal(0);
    await time.pass(3640);
    expect(renewals).to.equal(10);
    leases.close();
    await time.pass(2100);
    expect(renewals).to.equal(10);
    expect(leases.holds("k")).to.equal(false);
    expect(await open().claim("k")).not.to.equal(undefined);
  });

  it("is none when the store took longer to give it than it lives", async () => {
    const { putIfAbsent } = store;
    store.putIfAbsent = async (...args) => {
      const done = await putIfAbsent(...args);
      time.stall(2000);
      return done;
    };
    const leases = open();
    expect(await leases.claim("k")).to.equal(undefined);
    expect(leases.holds("k")).to.equal(false);
  });

  it("is lost, and says so, when it cannot be renewed for as long as it lives", async () => {
    const leases = open();
    const lease = await leases.claim("k");
    const failure = new Error("the store is gone");
    store.renew = () => Promise.reject(failure);
    await time.pass(1900);
    expect([lease?.lost().aborted, leases.holds("k")]).to.deep.equal([false, true]);
    expect(errors).to.deep.equal([failure, failure, failure, failure]);
    await time.pass(600);
    expect([lease?.lost().aborted, leases.holds("k")]).to.deep.equal([true, false]);
    expect(lease?.lost().reason).to.have.property("code", "unavailable");
    const taken = await open().claim("k");
    expect(taken).not.to.equal(undefined);
    await lease?.release();
    expect(await open().claim("k"), "its release does not touch the next one's").to.equal(undefined);
  });

  it("is not released in the store once it may have lapsed: it may be another's by then", async () => {
    const lease = await open().claim("k");
    time.stall(2000);
    let deletions = 0;
    store.delete = async () => {
      deletions += 1;
    };
    await lease?.release();
    expect(deletions).to.equal(0);
  });

  it("is lost, and says so, where its own process takes it anew once it has lapsed", async () => {
    const leases = open();
    const former = await leases.claim("k");
    time.stall(2000);
    const next = await leases.claim("k");
    expect([former?.lost().aborted, next?.lost().aborted]).to.deep.equal([true, false]);
    await former?.release();
    expect([leases.holds("k"), await open().claim("k")]).to.deep.equal([true, undefined]);
  });

  for (const reclaims of [false, true])
    it(`is lost to the next holder when its renewal comes late (it ${reclaims ? "is" : "is not"} claimed again)`, async () => {
      const [one, other] = [open({ reclaims }), open()];
      const lease = await one.claim("k");
      const proceed = holdRenewals();
      await time.pass(400);
      time.stall(2000);
      const next = await other.claim("k");
      proceed();
      await time.pass(600);
      expect([lease?.lost().aborted, one.holds("k")]).to.deep.equal([true, false]);
      expect([next?.lost().aborted, other.holds("k")]).to.deep.equal([false, true]);
      await next?.release();
      expect(await open().claim("k"), "free after its release").not.to.equal(undefined);
    });

  describe("of work that may be done twice", () => {
    it("is claimed again after a stall, unless another process has it by then", async () => {
      const [one, other] = [open({ reclaims: true }), open()];
      const [kept, lost] = [await one.claim("kept"), await one.claim("lost")];
      time.stall(2100);
      await other.claim("lost");
      await time.pass(400);
      expect([kept?.lost().aborted, one.holds("kept")]).to.deep.equal([false, true]);
      expect(await other.claim("kept")).to.equal(undefined);
      expect([lost?.lost().aborted, one.holds("lost")]).to.deep.equal([true, false]);
    });

    it("is kept when its renewals have come through after all, and only their answers were lost", async () => {
      const leases = open({ reclaims: true });
      const lease = await leases.claim("k");
      const { renew } = store;
      store.renew = async (...args) => {
        await renew(...args);
        throw new Error("the connection broke off");
      };
      await time.pass(1900);
      store.renew = renew;
      await time.pass(200);
      expect([lease?.lost().aborted, leases.holds("k")]).to.deep.equal([false, true]);
      expect(errors).to.have.length(4);
    });

    it("is lost when the store fails the claim", async () => {
      const leases = open({ reclaims: true });
      const lease = await leases.claim("k");
      const failure = new Error("the store is gone");
      store.renew = () => Promise.reject(failure);
      time.stall(2100);
      await time.pass(400);
      expect([lease?.lost().aborted, leases.holds("k"), errors]).to.deep.equal([true, false, [failure]]);
    });

    it("stays its process's when that has taken it anew while it was claimed again", async () => {
      const leases = open({ reclaims: true });
      const former = await leases.claim("k");
      const proceed = holdRenewals();
      time.stall(2100);
      await time.pass(400);
      const next = await leases.claim("k");
      proceed();
      await time.pass(20);
      expect([former?.lost().aborted, next?.lost().aborted, leases.holds("k")]).to.deep.equal([true, false, true]);
      expect(await open().claim("k")).to.equal(undefined);
    });

    it("is free when it was released while it was claimed again", async () => {
      const leases = open({ reclaims: true });
      const lease = await leases.claim("k");
      const proceed = holdRenewals();
      time.stall(2100);
      await time.pass(400);
      await lease?.release();
      proceed();
      await time.pass(20);
      expect(lease?.lost().aborted).to.equal(false);
      expect(await open().claim("k")).not.to.equal(undefined);
    });
  });
});
