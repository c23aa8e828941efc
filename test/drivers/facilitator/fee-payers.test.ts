import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { Facilitator, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createFailover } from "../../../runtime/drivers/facilitator/failover.ts";
import { createHttpFacilitator, type HttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { createMember } from "../../../runtime/drivers/facilitator/member.ts";
import { problemOf } from "../../support/thrown.ts";
import { OFFER, PAYMENT } from "./offer.ts";
import { type FacilitatorStub, openFacilitatorStub } from "./stub.ts";

const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const NOT_MANAGED = "invalid_exact_svm_fee_payer_not_managed_by_facilitator";

describe("an offer with a fee payer whom no facilitator has named to this process", () => {
  const never = new AbortController().signal;
  const offer: PaymentRequirements = { ...OFFER, network: SOLANA, extra: { feePayer: "B" } };
  const payment = { ...PAYMENT, accepted: offer };
  const settlement = { transaction: "", network: SOLANA };
  /** Knows its own fee payer only. */
  const knowing = (feePayer: string): Facilitator => ({
    supported: async () => [],
    verify: async ({ accepted }) =>
      accepted.extra.feePayer === feePayer ? { isValid: true } : { isValid: false, invalidReason: NOT_MANAGED },
    settle: async ({ accepted }) =>
      accepted.extra.feePayer === feePayer
        ? { ...settlement, success: true, transaction: "5ig" }
        : { ...settlement, success: false, errorReason: NOT_MANAGED },
  });
  const away: Facilitator = {
    supported: async () => [],
    verify: () => Promise.reject(new Problem("facilitator-unavailable")),
    settle: () => Promise.reject(new Problem("facilitator-unavailable")),
  };
  const failoverOf = (...facilitators: Facilitator[]): Facilitator =>
    createFailover({
      members: facilitators.map((facilitator, at) => createMember({ name: `${at}`, facilitator, log: silentLog })),
      settlements: { find: async () => ({ state: "open" }) },
      isTrusted: () => true,
      log: silentLog,
    });

  it("is brought to each of them, until one manages it", async () => {
    for (const isAgain of [false, true]) {
      const both = failoverOf(knowing("A"), knowing("B"));
      expect(await both.settle(payment, offer, never, { isAgain })).to.include({ success: true, by: "1" });
    }
    expect(await failoverOf(knowing("A"), knowing("B")).verify(payment, offer, never)).to.deep.equal({ isValid: true });
  });

  it("is refused where none manages it, and not where one of them cannot be asked", async () => {
    const none = failoverOf(knowing("A"), knowing("C"));
    expect(await none.verify(payment, offer, never)).to.have.property("invalidReason", NOT_MANAGED);
    expect(await none.settle(payment, offer, never)).to.include({ success: false, errorReason: NOT_MANAGED });
    for (const facilitators of [
      [knowing("A"), away],
      [away, knowing("A")],
    ]) {
      const failover = failoverOf(...facilitators);
      for (const action of ["verify", "settle"] as const) {
        const problem = await problemOf(Promise.resolve(failover[action](payment, offer, never)));
        expect(problem.code).to.match(/^(?:facilitator-unavailable|settlement-unknown)$/);
      }
    }
  });
});

describe("a facilitator with several fee payers, which names any of them each time", () => {
  const never = new AbortController().signal;
  let stub: FacilitatorStub;
  let facilitator: HttpFacilitator;
  let signers: readonly string[];
  let named: string;
  before(async () => {
    stub = await openFacilitatorStub();
  });
  after(() => stub.close());
  beforeEach(() => {
    signers = ["one", "two", "three"];
    stub.respond = (request, response, body) => {
      const kinds = [{ x402Version: 2, scheme: "exact", network: SOLANA, extra: { feePayer: named } }];
      if (request.method === "GET") response.end(JSON.stringify({ kinds, signers: { "solana:*": signers } }));
      else {
        const isValid = signers.includes(JSON.parse(body).paymentRequirements.extra.feePayer);
        response.end(JSON.stringify(isValid ? { isValid } : { isValid, invalidReason: NOT_MANAGED }));
      }
    };
    facilitator = createHttpFacilitator({ url: stub.url });
  });
  afterEach(() => facilitator.close());

  const feePayer = async (name: string): Promise<unknown> => {
    named = name;
    const [kind] = await facilitator.supported(never);
    return kind?.extra?.feePayer;
  };
  const verify = (payer: string): Promise<unknown> => {
    const offer: PaymentRequirements = { ...OFFER, network: SOLANA, extra: { feePayer: payer } };
    return facilitator.verify({ ...PAYMENT, accepted: offer }, offer, never);
  };

  it("is offered with one of them, for as long as it is there", async () => {
    expect(await feePayer("one")).to.equal("one");
    expect(await feePayer("two")).to.equal("one");
    signers = ["two", "three"];
    expect(await feePayer("three")).to.equal("three");
    expect(await feePayer("two")).to.equal("three");
  });

  it("is offered with the one that it names, where it does not list them", async () => {
    signers = [];
    expect(await feePayer("one")).to.equal("one");
    expect(await feePayer("two")).to.equal("two");
  });

  it("is asked again as soon as a payment shows that the one that is offered has gone", async () => {
    let told = 0;
    createMember({ name: "remote", facilitator, log: silentLog }).watch(() => {
      told += 1;
    });
    await feePayer("one");
    await verify("one");
    expect(told).to.equal(0);
    signers = ["two", "three"];
    expect(await verify("one")).to.have.property("invalidReason", NOT_MANAGED);
    await verify("one"); // Of an earlier challenge.
    expect(told).to.equal(1);
    expect(await feePayer("two")).to.equal("two");
  });
});
