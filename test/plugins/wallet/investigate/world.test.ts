import { expect } from "chai";
import { offline } from "../../../support/sources/replay.ts";
import type { Line } from "../../../support/sources/scripted-source.ts";
import { TOO_MANY } from "../../../support/world/goplus.ts";
import { askForPause, type Fault, OVER_RATE_LIMIT } from "../../../support/world/manners.ts";
import type { Payment } from "../../../support/world/payments.ts";
import { problemOf } from "../../host.ts";
import { LAZARUS } from "./stage.ts";
import { investigateIn, ON_SOLANA, openWorld, WALLET, type WorldOptions } from "./world.ts";

const toAddress = (name: string): string => `0x${Buffer.from(name.padEnd(20, ".")).toString("hex")}`;
const [SUBJECT, SHOP, EMPLOYER] = [toAddress("subject"), toAddress("shop"), toAddress("employer")];

const everyOther = (line: Line): Fault => {
  let count = 0;
  return () => (count++ % 2 === 0 ? line : undefined);
};
const atFirst =
  (line: Line): Fault =>
  ({ times }) =>
    times === 0 ? line : undefined;
/** Fails for ever on a page of a list. */
const failPage =
  (list: string, page: number): Fault =>
  ({ name, query }) =>
    name.endsWith(`/${list}`) && Number(query.get("items_count") ?? 0) === 50 * page ? 500 : undefined;
const noLogs: Fault = ({ name }) => (name === "eth_getLogs" ? 503 : undefined);
const noSignatures: Fault = ({ name }) => (name === "getSignaturesForAddress" ? 429 : undefined);

/** 400 days of salary and shopping. */
const LIFE: readonly Payment[] = [
  { from: EMPLOYER, to: SUBJECT, asset: "ETH", amount: "0.5", daysAgo: 400 },
  ...Array.from({ length: 12 }, (_, month): Payment[] => [
    { from: EMPLOYER, to: SUBJECT, asset: "USDC", amount: "3000", daysAgo: 30 * month + 5 },
    { from: SUBJECT, to: SHOP, asset: "USDC", amount: "900", daysAgo: 30 * month + 2 },
    { from: SUBJECT, to: SHOP, asset: "ETH", amount: "0.01", daysAgo: 30 * month + 2 },
  ]).flat(),
];
/** The same with one payment of a sanctioned address, long ago. */
const TAINTED: readonly Payment[] = [
  ...LIFE,
  { from: LAZARUS, to: SUBJECT, asset: "USDC", amount: "20000", daysAgo: 380 },
];
/** More than one page of transfers, the oldest of them with a sanctioned address. */
const BUSY: readonly Payment[] = [
  ...TAINTED,
  ...Array.from({ length: 90 }, (_, at): Payment => {
    return { from: SUBJECT, to: SHOP, asset: "USDC", amount: "1", daysAgo: 1 + at };
  }),
];

describe("an investigation in a world of public sources", function () {
  offline();
  this.timeout(60_000);

  it("reads all that there is, and is sure of it", async () => {
    const { data, deliverable } = await investigateIn(
      { payments: LIFE, base: { window: 10_000, states: 128 } },
      SUBJECT,
    );
    expect(data.missing).to.deep.equal([]);
    expect(data).to.include({ verdict: "low", score: 0, provisional: false });
    expect(deliverable).to.include({ verdict: "low", provisional: false });
    expect(data.activity.firstSeenAt).to.be.closeTo(1_800_000_000 - 400 * 86_400, 2);
    expect(data.movements.volumes).to.deep.equal([
      { asset: "ETH", received: "0.5", sent: "0.12", receivedCount: 1, sentCount: 12 },
      { asset: "USDC", received: "36000", sent: "10800", receivedCount: 12, sentCount: 12 },
    ]);
  });

  const PUBLIC = { perSecond: 10, burst: 10 };
  for (const [how, manners] of [
    [
      "limit each to 10 requests a second",
      { base: { rate: PUBLIC }, blockscout: { rate: { perSecond: 1, burst: 5 } } },
    ],
    ["refuse in JSON-RPC errors", { base: { rate: PUBLIC, refusal: OVER_RATE_LIMIT } }],
    ["ask for a pause of half a minute", { blockscout: { rate: PUBLIC, refusal: askForPause(30) } }],
    ["limit a method alone", { base: { rates: { eth_getLogs: { perSecond: 1, burst: 2 } } } }],
    [
      "answer 429 to every other question",
      { blockscout: { fault: everyOther(429) }, base: { fault: everyOther(429) } },
    ],
    ["fail at first", { base: { fault: atFirst(503) }, blockscout: { fault: atFirst(502) } }],
  ] satisfies [string, WorldOptions["manners"]][])
    it(`reads the same from sources that ${how}`, async () => {
      const options = { payments: TAINTED, base: { window: 10_000 } };
      const { data } = await investigateIn({ ...options, manners }, SUBJECT);
      expect(data.missing).to.deep.equal([]);
      expect(data).to.include({ verdict: "high", provisional: false });
      expect(data.reasons[0]).to.include({ code: "paid_by_sanctioned" });
    });

  it("waits for GoPlus, which allows 30 requests a minute and answers in part at first", async () => {
    const others = Array.from({ length: 40 }, (_, at) => toAddress(`friend ${at}`));
    const payments = others.flatMap((other, at): Payment[] => [
      { from: other, to: SUBJECT, asset: "USDC", amount: "50", daysAgo: 60 + at },
      { from: SUBJECT, to: other, asset: "USDC", amount: "50", daysAgo: 59 + at },
    ]);
    const manners = { goplus: { rate: { perSecond: 0.5, burst: 30 }, refusal: TOO_MANY } };
    const { data } = await investigateIn({ payments, manners, partialFirst: 1 }, SUBJECT);
    expect(data.missing).to.deep.equal([]);
    expect(data.coverage.find(({ source }) => source === "GoPlus")).to.include({ whole: true });
  });

  it("says that the sanctions list at hand is old, also of an address that GoPlus has flags against", async () => {
    const world = await openWorld({ payments: LIFE, flags: { [SUBJECT]: ["phishing_activities"] } });
    try {
      world.clock.pass(8 * 86_400_000);
      const { data } = await world.investigate(SUBJECT);
      expect(data.coverage[0]).to.include({ source: "OFAC's sanctions list", whole: false });
      expect(data.missing).to.deep.include({
        source: "OFAC's sanctions list",
        message: "The present list could not be read",
        atStake: 100,
      });
      expect(data).to.include({ score: 70, verdict: "inconclusive", provisional: true });
    } finally {
      await world.close();
    }
  });

  it("finds half a year of USDC at a node with windows of 10 000 blocks when no explorer answers, and is not sure", async () => {
    const payments = [...LIFE, { from: LAZARUS, to: SUBJECT, asset: "USDC", amount: "20", daysAgo: 170 } as const];
    const world = { payments, base: { window: 10_000, states: 128 }, dead: ["blockscout"] as const };
    const { data, deliverable } = await investigateIn(world, SUBJECT);
    expect(data.movements.volumes.map(({ receivedCount }) => receivedCount)).to.deep.equal([7]);
    expect(data.reasons[0]).to.include({ code: "paid_by_sanctioned" });
    expect(data).to.include({ verdict: "inconclusive", provisional: true });
    const coverage = deliverable.coverage as { source: string; missing: string | null }[];
    expect(coverage.filter(({ missing }) => missing !== null).map(({ source }) => source)).to.include("Blockscout");
  });

  it("goes back as far as its time allows at a slow node with windows of 1000 blocks", async () => {
    const manners = { base: { rate: { perSecond: 2, burst: 4 } } };
    const world = { payments: LIFE, base: { window: 1000 }, dead: ["blockscout"] as const, manners };
    const { data } = await investigateIn(world, SUBJECT);
    expect(data.movements.volumes.length).to.equal(1);
    expect(data.missing.map(({ message }) => message).join()).to.include("the time of this investigation was over");
    expect(data.verdict).to.equal("inconclusive");
  });

  it("keeps the pages of an explorer that fails on one of them, finds the rest in the logs, and names the gap", async () => {
    const fault = failPage("token-transfers", 1);
    const { data, report } = await investigateIn({ payments: BUSY, manners: { blockscout: { fault } } }, SUBJECT);
    expect(data.movements.volumes.map(({ sentCount }) => sentCount)).to.deep.equal([12, 96]);
    expect(data).to.include({ verdict: "inconclusive", provisional: true });
    expect(data.missing[0]?.message).to.match(/^Of its USDC transfers only the newest 50 could be read: /);
    expect(report).to.include("**Verdict: inconclusive.** At least **0** of 100");
  });

  it("is high all the same when what was read is enough for it", async () => {
    const payments = [...BUSY, { from: LAZARUS, to: SUBJECT, asset: "USDC", amount: "20000", daysAgo: 3 } as const];
    const manners = { blockscout: { fault: failPage("token-transfers", 1) } };
    const { data } = await investigateIn({ payments, manners }, SUBJECT);
    expect(data).to.include({ verdict: "high", provisional: true });
  });

  it("does not lose a list because another one fails", async () => {
    const manners = { blockscout: { fault: failPage("internal-transactions", 0) } };
    const { data } = await investigateIn({ payments: TAINTED, manners }, SUBJECT);
    expect(data.reasons[0]).to.include({ code: "paid_by_sanctioned" });
    expect(data.missing[0]?.message).to.match(/^Of its transfers of ETH by contracts only the newest 0 could be read/);
  });

  it("finds a sanctioned counterparty among many with whom more was moved", async () => {
    const others = Array.from({ length: 60 }, (_, at) => toAddress(`friend ${at}`));
    const payments = [
      ...others.map((to, at): Payment => ({ from: SUBJECT, to, asset: "USDC", amount: "5000", daysAgo: 60 + at })),
      { from: SUBJECT, to: LAZARUS, asset: "USDC", amount: "2", daysAgo: 90 } as const,
    ];
    const { data } = await investigateIn({ payments }, SUBJECT);
    expect(data.reasons[0]).to.include({ code: "paid_sanctioned", points: 70 });
    expect(data.verdict).to.equal("high");
  });

  for (const [count, covers, whole] of [
    [3, "1 of 1 direct counterparties were followed, to 3 addresses behind them.", true],
    [4, "1 of 1 direct counterparties were followed, to 3 of 4 addresses behind them.", false],
    [
      120,
      "1 of 1 direct counterparties were followed (1 of them by their newest transfers alone), to 3 of 100 addresses behind them.",
      false,
    ],
  ] as const)
    it(`says how much was read behind a counterparty that ${count} others have paid`, async () => {
      const others = Array.from({ length: count }, (_, at) => toAddress(`friend ${at}`));
      const payments = [
        { from: SUBJECT, to: SHOP, asset: "USDC", amount: "5", daysAgo: 90 } as const,
        ...others.map((from): Payment => ({ from, to: SHOP, asset: "USDC", amount: "5", daysAgo: 60 })),
      ];
      const { data } = await investigateIn({ payments }, SUBJECT);
      expect(data.coverage.at(-1)).to.deep.equal({ source: "Counterparties", covers, whole });
    });

  it("does not say that it has followed a counterparty of which nothing could be read", async () => {
    const ofShop: Fault = ({ name, params }) =>
      `${name} ${params.map((each) => JSON.stringify(each))}`.includes(SHOP.slice(2)) ? 422 : undefined;
    const manners = { blockscout: { fault: ofShop }, base: { fault: ofShop } };
    const { data } = await investigateIn({ payments: LIFE, manners }, SUBJECT);
    expect(data.missing[0]?.message).to.match(/^Of 2 direct counterparties 1 could not be followed: /);
    expect(data.coverage.at(-1)?.covers).to.match(/^1 of 2 direct counterparties were followed, to /);
  });

  it("does not believe an explorer that knows nothing of an address that has sent transactions", async () => {
    const { data } = await investigateIn({ payments: LIFE, explorer: { lagDays: 1000 } }, SUBJECT);
    expect(data.verdict).to.equal("inconclusive");
    expect(data.missing.map(({ message }) => message)).to.include(
      "It lists 0 of the 24 transactions that the address has sent",
    );
  });

  it("finds what an explorer's index does not have yet", async () => {
    const payments = [...LIFE, { from: LAZARUS, to: SUBJECT, asset: "USDC", amount: "500", daysAgo: 0.5 } as const];
    const { data } = await investigateIn({ payments, explorer: { lagDays: 1 } }, SUBJECT);
    expect(data.reasons[0]).to.include({ code: "paid_by_sanctioned" });
  });

  describe("fails, so that it is paid back,", () => {
    for (const [name, address, options] of [
      ["when the Base node is gone", SUBJECT, { payments: LIFE, dead: ["base"] }],
      ["when it never lets anybody in", SUBJECT, { payments: LIFE, manners: { base: { fault: () => 429 } } }],
      [
        "when no transfers can be read",
        SUBJECT,
        { payments: LIFE, dead: ["blockscout"], manners: { base: { fault: noLogs } } },
      ],
      ["when the Solana node is gone", WALLET, { payments: ON_SOLANA, dead: ["solana"] }],
      ["when it lists no signatures", WALLET, { payments: ON_SOLANA, manners: { solana: { fault: noSignatures } } }],
    ] satisfies [string, string, WorldOptions][])
      it(name, async () => {
        const world = await openWorld(options);
        const before = world.clock.now();
        const failure = await problemOf(world.investigate(address));
        expect(failure.code).to.equal("upstream-failed");
        expect(failure.message).to.match(/could be read/);
        const minutes = (world.clock.now() - before) / 60_000;
        expect(minutes, "minutes that it waited").to.be.within(2, 20);
        await world.close();
      });
  });
});
