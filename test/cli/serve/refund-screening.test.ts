import { expect } from "chai";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import { createJobEngine, type OpenJobs } from "../../../runtime/cli/serve/job-engine.ts";
import type { RefundRail } from "../../../runtime/core/refunds/rail.ts";
import { createRefundRecords } from "../../../runtime/core/refunds/records.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { PAYER, SIGNED, toCase } from "../../core/refunds/attempts.ts";
import { eventually } from "../../support/eventually.ts";
import { createLogBook, toService } from "../../support/http.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

/** What is logged when an attempt at a refund has ended. */
const ENDS = ["refund.paid", "refund.manual", "refund.delayed"];

describe("the service that screens recipients of refunds", () => {
  let jobs: OpenJobs;
  afterEach(() => jobs.close());

  /** Opens a refund where the service gives this answer. It has moved, and its former self cannot tell. */
  async function refund(answer: object, { isSandbox = false, isHeld = true } = {}) {
    const [store, log, clock] = [createMemoryStore(), createLogBook(), { now: Date.now }];
    const sent: string[] = [];
    const asked: unknown[] = [];
    const { network, asset } = toCase().payment;
    const refundRail: RefundRail = {
      network,
      asset,
      check: async () => {},
      holds: async () => isHeld,
      sign: async (_, { to }) => {
        sent.push(to);
        return SIGNED;
      },
      find: async () => ({ state: "settled", transaction: "0x2" }),
      send: async () => {},
    };
    const handler = (input: unknown): object => {
      asked.push(input);
      return answer;
    };
    const service = { ...toService({ id: "look", route: "POST /v1/look" }), handler };
    const site = { refunds: { rail: "base", screen: "look" } } as SiteManifest;
    const deps = { site, config: readConfig({}), baseUrl: "http://127.0.0.1", createLimiter: createMemoryLimiter };
    const engine = createJobEngine({ ...deps, isSandbox, refundRail, store, clock, log });
    const former = { ...service, isRetired: true as const, handler: () => ({ sanctions_match: null }) };
    jobs = await engine.open([former, service]);
    jobs.start();
    await engine.refunds.open(toCase());
    await eventually(() => log.lines.some(({ event }) => ENDS.includes(event)));
    return { sent, asked, record: await createRefundRecords(store).read("one") };
  }

  it("is asked about the wallet before it is paid", async () => {
    const { sent, asked } = await refund({ sanctions_match: false });
    expect([sent, asked]).to.deep.equal([[PAYER], [{ wallet: PAYER }]]);
  });

  it("leaves a sanctioned wallet to a person", async () => {
    const { sent, record } = await refund({ sanctions_match: true });
    expect([sent, record?.state]).to.deep.equal([[], "manual"]);
  });

  it("clears nobody by an answer that does not say it", async () => {
    for (const answer of [{}, { sanctions_match: null }]) {
      const { sent, record } = await refund(answer);
      expect([sent, record?.state]).to.deep.equal([[], "pending"]);
      await jobs.close();
    }
  });

  it("is asked in a sandbox also where the payment was made on chains that an earlier run had", async () => {
    const gone = { isHeld: false };
    expect((await refund({ sanctions_match: false }, gone)).sent).to.deep.equal([]);
    await jobs.close();
    expect((await refund({ sanctions_match: false }, { ...gone, isSandbox: true })).sent).to.deep.equal([PAYER]);
  });
});
