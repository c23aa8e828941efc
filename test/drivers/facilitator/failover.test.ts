import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { pause } from "../../../runtime/core/time/deadline.ts";
import type {
  Facilitator,
  PaymentPayload,
  PaymentRequirements,
  SettlementState,
  SettleResponse,
} from "../../../runtime/core/x402/x402.ts";
import { createFailover } from "../../../runtime/drivers/facilitator/failover.ts";
import { createMember, type FacilitatorMember } from "../../../runtime/drivers/facilitator/member.ts";
import { eventually } from "../../support/eventually.ts";

const NETWORK = "eip155:8453";
const OFFER: PaymentRequirements = {
  scheme: "exact",
  network: NETWORK,
  asset: "0xa",
  amount: "1",
  payTo: "0xb",
  maxTimeoutSeconds: 300,
  extra: {},
};
const PAYMENT = { x402Version: 2, accepted: OFFER, payload: {} } as PaymentPayload;
const SETTLED: SettleResponse = { success: true, transaction: "0x1", network: NETWORK };
const REFUSED: SettleResponse = { success: false, errorReason: "simulation_failed", transaction: "", network: NETWORK };

const outage = (code: string): Problem =>
  new Problem("facilitator-unavailable", "no answer", { cause: Object.assign(new Error("gone"), { code }) });
const lost = (): Promise<never> => Promise.reject(outage("UND_ERR_SOCKET"));
const unsent = (): Promise<never> => Promise.reject(outage("ECONNREFUSED"));

type Script = { -readonly [Action in "supported" | "verify" | "settle"]?: () => Promise<unknown> };

/** Facilitators that do as they are told, and what they and the chain were asked, in this order. */
function stage(scripts: Readonly<Record<string, Script>>, chain: readonly (SettlementState | Error)[] = []) {
  const asked: string[] = [];
  const states = [...chain];
  const members = Object.entries(scripts).map(([name, script]): FacilitatorMember => {
    const act = (action: keyof Script, usual: unknown) => () => {
      if (action !== "supported") asked.push(`${name} ${action}`);
      return (script[action] ?? (async () => usual))();
    };
    const facilitator = {
      supported: act("supported", [{ x402Version: 2, scheme: "exact", network: NETWORK }]),
      verify: act("verify", { isValid: true }),
      settle: act("settle", SETTLED),
    } as unknown as Facilitator;
    return createMember({ name, facilitator, log: silentLog, restMs: 10 });
  });
  const settlements = {
    async find() {
      asked.push("chain");
      const state = states.length > 1 ? states.shift() : states[0];
      if (state instanceof Error) throw state;
      return state ?? { state: "open" as const };
    },
  };
  const terms = { settlements, isTrusted: () => true, log: silentLog };
  const failover = createFailover({ members, ...terms, verifyMs: 50, settleMs: 50, lookMs: 1500 });
  const never = new AbortController().signal;
  return {
    asked,
    members,
    failover,
    verify: () => failover.verify(PAYMENT, OFFER, never),
    settle: (offer = OFFER) => failover.settle(PAYMENT, offer, never),
    again: () => failover.settle(PAYMENT, OFFER, never, { isAgain: true }),
    close: () => {
      for (const member of members) member.close();
    },
  };
}

const codeOf = (error: unknown): string => (error instanceof Problem ? error.code : String(error));

describe("several facilitators", () => {
  let opened: ReturnType<typeof stage> | undefined;
  const open = (...parts: Parameters<typeof stage>): ReturnType<typeof stage> => {
    opened = stage(...parts);
    return opened;
  };
  afterEach(() => opened?.close());

  it("give the verdict of the next one when the first does not answer, and ask it first from then on", async () => {
    const { verify, asked } = open({ one: { verify: lost, supported: lost }, two: {} });
    expect(await verify()).to.deep.equal({ isValid: true });
    expect(await verify()).to.deep.equal({ isValid: true });
    expect(asked).to.deep.equal(["one verify", "two verify", "two verify"]);
  });

  it("give a refusal as it is: the next one is not asked for another opinion", async () => {
    const { verify, asked } = open({ one: { verify: async () => ({ isValid: false }) }, two: {} });
    expect(await verify()).to.deep.equal({ isValid: false });
    expect(asked).to.deep.equal(["one verify"]);
  });

  it("pass over one that keeps silent", async () => {
    const silent = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(outage("UND_ERR_ABORTED"))));
    const { members, failover, settle, asked } = open({ one: {}, two: {} }, [{ state: "open" }]);
    const mute = { ...members[0]?.facilitator, verify: (_p: unknown, _o: unknown, s: AbortSignal) => silent(s) };
    Object.assign(members[0] ?? {}, { facilitator: { ...mute, settle: mute.verify } });
    expect(await failover.verify(PAYMENT, OFFER, new AbortController().signal)).to.deep.equal({ isValid: true });
    await members[0]?.ask(async () => {});
    expect(await settle()).to.deep.equal({ ...SETTLED, by: "two" });
    expect(asked).to.deep.equal(["two verify", "chain", "two settle"]);
  });

  it("wait for one that is slow while no other one is up", async () => {
    const { members, verify, settle, asked } = open({ one: { verify: lost, supported: lost }, two: {} });
    const slowly =
      <T>(answer: T) =>
      async (_payment: unknown, _offer: unknown, signal: AbortSignal): Promise<T> => {
        if (!(await pause(200, signal))) throw outage("UND_ERR_ABORTED");
        return answer;
      };
    const slow = { verify: slowly({ isValid: true }), settle: slowly(SETTLED) };
    Object.assign(members[1] ?? {}, { facilitator: slow });
    expect(await verify()).to.deep.equal({ isValid: true });
    expect(await verify()).to.deep.equal({ isValid: true });
    expect(await settle()).to.deep.equal({ ...SETTLED, by: "two" });
    expect(asked).to.deep.equal(["one verify"]);
  });

  it("settle with the next one when the first cannot be reached", async () => {
    const { settle, asked } = open({ one: { settle: unsent }, two: {} });
    expect(await settle()).to.deep.equal({ ...SETTLED, by: "two" });
    expect(asked, "nothing was sent, so the chain is not asked").to.deep.equal(["one settle", "two settle"]);
  });

  it("find on the chain what the first has sent before its answer was lost, and ask nobody else", async () => {
    const { settle, asked } = open({ one: { settle: lost }, two: {} }, [{ state: "settled", transaction: "0x7" }]);
    expect(await settle()).to.include({ success: true, transaction: "0x7" });
    expect(asked).to.deep.equal(["one settle", "chain"]);
  });

  it("settle with the next one once the chain shows that the first has not", async () => {
    const { settle, asked } = open({ one: { settle: lost }, two: {} }, [{ state: "open" }]);
    expect(await settle()).to.deep.equal({ ...SETTLED, by: "two" });
    expect(asked).to.deep.equal(["one settle", "chain", "two settle"]);
  });

  it("ask nobody else while the chain cannot be read, and call the outcome unknown", async () => {
    const { settle, asked } = open({ one: { settle: lost }, two: {} }, [new Problem("upstream-failed")]);
    expect(await settle().catch(codeOf)).to.equal("settlement-unknown");
    expect(asked).to.deep.equal(["one settle", "chain"]);
  });

  it("do not believe a refusal of what another one may have sent, until the chain shows it", async () => {
    const chain: SettlementState[] = [{ state: "open" }, { state: "open" }, { state: "settled", transaction: "0x7" }];
    const { settle } = open({ one: { settle: lost }, two: { settle: async () => REFUSED } }, chain);
    expect(await settle()).to.include({ success: true, transaction: "0x7" });
  });

  it("never call refused what may have been sent", async () => {
    const { settle } = open({ one: { settle: lost }, two: { settle: async () => REFUSED } }, [{ state: "open" }]);
    expect(await settle().catch(codeOf)).to.equal("settlement-unknown");
  });

  it("look at the chain before anybody is asked again", async () => {
    const settled = open({ one: {}, two: {} }, [{ state: "settled", transaction: "0x7" }]);
    expect(await settled.again()).to.include({ transaction: "0x7" });
    expect(settled.asked).to.deep.equal(["chain"]);
    const unreadable = open({ one: {}, two: {} }, [new Problem("upstream-failed")]);
    expect(await unreadable.again().catch(codeOf)).to.equal("settlement-unknown");
    expect(unreadable.asked).to.deep.equal(["chain"]);
  });

  it("ask nobody to settle what the chain says can never be settled", async () => {
    const { settle, asked } = open({ one: { settle: lost }, two: {} }, [{ state: "dead" }]);
    expect(codeOf(await settle().catch((error: unknown) => error))).to.equal("settlement-unknown");
    expect(asked).to.deep.equal(["one settle", "chain"]);
  });

  it("give a refusal of what was sent before at once: who asks again looks at the chain", async () => {
    const { again, asked } = open({ one: { settle: async () => REFUSED }, two: {} }, [{ state: "open" }]);
    expect(await again()).to.deep.equal({ ...REFUSED, by: "one" });
    expect(asked).to.deep.equal(["chain", "one settle"]);
  });

  it("ask nobody else for a caller who waits no more", async () => {
    const leaving = new AbortController();
    const leave = (): Promise<never> => {
      leaving.abort();
      return lost();
    };
    for (const action of ["verify", "settle"] as const) {
      const { failover, asked } = open({ one: { verify: leave, settle: leave }, two: {} });
      await failover[action](PAYMENT, OFFER, leaving.signal).catch(() => {});
      expect(asked).to.deep.equal([`one ${action}`]);
      opened?.close();
    }
  });

  it("ask all in turn for an offer with a fee payer whom none of them has named yet", async () => {
    const { settle, asked } = open({ one: { settle: unsent }, two: {} });
    expect(await settle({ ...OFFER, extra: { feePayer: "somebody" } })).to.deep.equal({ ...SETTLED, by: "two" });
    expect(asked).to.deep.equal(["one settle", "two settle"]);
  });

  it("ask only the one that pays the fee, where an offer names it", async () => {
    const kind = (feePayer: string) => async () => [
      { x402Version: 2, scheme: "exact", network: NETWORK, extra: { feePayer } },
    ];
    const { failover, settle, asked } = open({
      one: { supported: kind("A"), settle: unsent },
      two: { supported: kind("B") },
    });
    await failover.supported(new AbortController().signal);
    expect(await settle({ ...OFFER, extra: { feePayer: "B" } })).to.deep.equal({ ...SETTLED, by: "two" });
    expect(await settle({ ...OFFER, extra: { feePayer: "A" } }).catch(codeOf)).to.equal("facilitator-unavailable");
    expect(asked).to.deep.equal(["two settle", "one settle"]);
  });

  it("ask one that is back first again, without a buyer's call to find out, and tell who offers", async () => {
    let isBack = false;
    const script: Script = { verify: lost, supported: () => (isBack ? Promise.resolve([]) : lost()) };
    const { verify, asked, members, failover } = open({ one: script, two: {} });
    let changes = 0;
    failover.watch?.(() => {
      changes += 1;
    });
    await verify();
    expect([changes, await failover.warnings?.()]).to.deep.equal([
      1,
      ["The facilitator one does not answer and is passed over"],
    ]);
    isBack = true;
    delete script.verify;
    await eventually(() => members[0]?.isUp() ?? false);
    await verify();
    expect(asked).to.deep.equal(["one verify", "two verify", "one verify"]);
    expect(changes).to.equal(2);
  });

  it("offer what those take that are up, and are down when none answers", async () => {
    const { failover } = open({ one: { supported: lost }, two: {} });
    const kinds = await failover.supported(new AbortController().signal);
    expect(kinds.map(({ network }) => network)).to.deep.equal([NETWORK]);
    const none = open({ one: { supported: lost }, two: { supported: lost } });
    expect(await none.failover.supported(new AbortController().signal).catch(codeOf)).to.equal(
      "facilitator-unavailable",
    );
  });
});
