import { expect } from "chai";
import { createGuests } from "../../../runtime/core/rules/guests.ts";
import { createPayerLimits } from "../../../runtime/core/rules/payer-limits.ts";
import { createHouseRules } from "../../../runtime/core/rules/rules.ts";
import { createScreening } from "../../../runtime/core/rules/screening.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { toSite } from "../../support/sellers/dice.ts";
import { SCREEN } from "../../support/sellers/shop-services.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { noteLives } from "../../support/store/note-lives.ts";
import { problemOf } from "../../support/thrown.ts";

const ALICE = "0xabcdef0000000000000000000000000000000002";
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const clock = { now: () => 1_800_000_000_000 };
const never = new AbortController().signal;

describe("what a wallet may spend", () => {
  it("counts a price below a millionth of a dollar as a millionth, so that no number of calls is free", async () => {
    const limits = createPayerLimits({
      terms: { usd_per_day: "0.000002" },
      store: createMemoryStore(clock.now),
      clock,
    });
    const take = (key: string) => limits.take({ key, wallet: ALICE, price: "0.0000001" });
    for (const key of ["one", "two"]) await take(key);
    expect((await problemOf(take("three"))).code).to.equal("rate-limited");
  });

  it("is remembered five minutes longer than it counts, since clocks differ", async () => {
    const store = createMemoryStore(clock.now);
    const lives = noteLives(store);
    await createPayerLimits({ terms: { calls_per_minute: 1, usd_per_day: "1" }, store, clock }).take({
      key: "key",
      wallet: ALICE,
      price: "0.01",
    });
    expect(lives.get("per-payer")).to.deep.equal([6 * MINUTE, DAY + 5 * MINUTE]);
  });

  it("says when more may be bought: in the next minute, or on the next day", async () => {
    const now = { now: () => 3 * DAY + 5 * MINUTE + 10_000 };
    const takeTwo = async (terms: Parameters<typeof createPayerLimits>[0]["terms"]) => {
      const limits = createPayerLimits({ terms, store: createMemoryStore(now.now), clock: now });
      const take = (key: string) => limits.take({ key, wallet: ALICE, price: "0.01" });
      await take("one");
      return (await problemOf(take("two"))).options.retryAfter;
    };
    expect(await takeTwo({ calls_per_minute: 1 })).to.equal(50);
    expect(await takeTwo({ usd_per_day: "0.01" })).to.equal(24 * 3600 - 310);
  });

  it("has the price of a payment once, until the call that has taken it over, or a late refusal, gives it back", async () => {
    const now = { now: () => NOW };
    let NOW = 3 * DAY - MINUTE;
    const limits = createPayerLimits({ terms: { usd_per_day: "0.01" }, store: createMemoryStore(now.now), clock: now });
    const take = (key: string) => limits.take({ key, wallet: ALICE, price: "0.01" });
    const first = await take("one"); // It could not be put on record, and is repeated.
    const again = await take("one");
    await first();
    expect((await problemOf(take("two"))).code).to.equal("rate-limited");
    NOW += 2 * MINUTE;
    await take("two");
    await again();
    expect((await problemOf(take("three"))).code, "that of the day before").to.equal("rate-limited");
    for (const _ of [1, 2]) await limits.giveBack({ key: "two", wallet: ALICE, price: "0.01" });
    await take("three");
    expect((await problemOf(take("four"))).code, "once").to.equal("rate-limited");
  });

  it("is one budget on each network for all whom nobody knows", async () => {
    const rules = createHouseRules({
      site: { limits: { ...toSite([]).limits, per_payer: { usd_per_day: "0.01" } } },
      services: [],
      rails: [],
      mostPerDay: 1,
      usdOf: () => "0.01",
      store: createMemoryStore(clock.now),
      clock,
      log: silentLog,
    });
    let count = 0;
    const buy = (network: string): Promise<unknown> =>
      rules.during(
        {
          key: `${network} ${++count}`,
          service: { manifest: { id: "roll" } },
          offer: { network },
          invocation: { signal: never },
        } as never,
        async () => ({ kind: "result", output: {} }),
      );
    await buy("solana:one");
    await buy("solana:two");
    expect((await problemOf(buy("solana:one"))).code).to.equal("rate-limited");
    rules.refusedLate("solana:one 1", {
      payment: { accepted: { network: "solana:one" } },
      sold: { usd: "0.01" },
    } as never);
    await buy("solana:one");
    expect((await problemOf(buy("solana:two"))).code).to.equal("rate-limited");
  });
});

describe("a buyer whom nobody knows", () => {
  it("is refused where wallets are denied, allowed or screened, and only there", async () => {
    createGuests({}).check([]);
    for (const lists of [{ deny: [ALICE] }, { allow: [ALICE] }])
      expect(() => createGuests(lists).check([])).to.throw("The seller's rules do not let this wallet buy");
    const terms = { service: "screen", refuse: ["sanctions_match"] };
    const screening = createScreening({ terms, service: undefined, store: createMemoryStore(clock.now) });
    expect((await problemOf(screening.check([], never))).code).to.equal("buyer-refused");
  });
});

describe("the answer of a screening", () => {
  it("is not taken for that of another rule", async () => {
    const output = {
      type: "object",
      properties: { sanctions_match: { type: "boolean" }, mixer: { type: "boolean" } },
      required: ["sanctions_match", "mixer"],
    };
    const [service] = bindServices([{ ...SCREEN, output }], {
      compile: createCompiler(new Map()),
      handlers: new Map([["dice.screen", async () => ({ sanctions_match: false, mixer: true })]]),
      site: toSite([]),
    });
    const store = createMemoryStore(clock.now);
    const open = (refuse: string[]) => createScreening({ terms: { service: "screen", refuse }, service, store });
    await open(["sanctions_match"]).check([ALICE], never);
    expect((await problemOf(open(["sanctions_match", "mixer"]).check([ALICE], never))).code).to.equal("buyer-refused");
    await open(["sanctions_match"]).check([ALICE], never);
  });

  /** A screening whose service answers this. */
  const screenBy = (answer: object, input: object = SCREEN.input as object) => {
    const flags = { sanctions_match: { type: "boolean" }, mixer: { type: "boolean" } };
    const [service] = bindServices([{ ...SCREEN, input, output: { type: "object", properties: flags } }], {
      compile: createCompiler(new Map()),
      handlers: new Map([["dice.screen", async () => answer]]),
      site: toSite([]),
    });
    const store = createMemoryStore(clock.now);
    const terms = { service: "screen", refuse: ["sanctions_match", "mixer"] };
    return { lives: noteLives(store), screening: createScreening({ terms, service, store }) };
  };
  const CLEAR = { sanctions_match: false, mixer: false };

  it("is kept for a day, unless the rule says otherwise", async () => {
    const { lives, screening } = screenBy(CLEAR);
    await screening.check([ALICE], never);
    expect(lives.get("screened")).to.deep.equal([DAY]);
  });

  it("counts as none where it leaves out a field that the rule asks for", async () => {
    for (const answer of [{}, { mixer: false }, { sanctions_match: true }])
      expect((await problemOf(screenBy(answer).screening.check([ALICE], never))).code).to.equal("unavailable");
  });

  it("is not waited for by a caller who has left, which is no failure of the shop", async () => {
    const leaving = new AbortController();
    const left = problemOf(screenBy(CLEAR).screening.check([ALICE], leaving.signal));
    leaving.abort();
    expect(await left).to.deep.include({ code: "unavailable", options: {} });
  });

  it("is none about a wallet that the service does not take", async () => {
    const input = { type: "object", properties: { wallet: { type: "string", pattern: "^[a-z]" } } };
    const { screening } = screenBy(CLEAR, input);
    expect((await problemOf(screening.check([ALICE], never))).code).to.equal("unavailable");
  });
});
