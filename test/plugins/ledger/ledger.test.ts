import { expect } from "chai";
import { createToChecksum } from "../../../plugins/ledger/checksums.ts";
import { toGroups } from "../../../plugins/ledger/groups.ts";
import ledger from "../../../plugins/ledger/index.ts";
import { offline, replayAlways } from "../../support/sources/replay.ts";
import { createHost, faultsOf, problemOf, type Reach, readManifest, type Serve, serve } from "../host.ts";
import { toTopicAddress } from "./base-node.ts";

const NODE = "https://base.test";
const RECORDING = "plugins/ledger/recordings/base/transfers.json";
const WALLET = "0x7ab4E3C19F2D5a86B0C4E1D83F9A6752C1b0E8d4";
const NOBODY = "0x000000000000000000000000000000000000dEaD";

describe("a spend summary", () => {
  offline();
  const start = (reach: Reach = {}): Promise<Serve> =>
    serve("ledger_summary", ledger, createHost({}, { urls: { base: NODE }, retries: 0, ...reach }));

  it("is grouped by the day and the way of paying, in the order of the days, where it is asked for so", async () => {
    replayAlways(NODE, RECORDING, ["success"]);
    const [, byDay] = readManifest("ledger_summary").examples;
    const days = (await (await start())(byDay?.input)).groups as { label: string; category: string }[];
    expect(days.map(({ label, category }) => `${label} ${category}`)).to.include.members([
      "2025-11-06 x402",
      "2025-11-06 other_transfer",
    ]);
    expect(days.map(({ label }) => label)).to.deep.equal(days.map(({ label }) => label).sort());
  });

  it("of a wallet that moved nothing has a series of zeros and no groups", async () => {
    replayAlways(NODE, RECORDING, ["empty", "success"]);
    const { totals, groups, daily } = await (await start())({ from: "2025-11-03", to: "2025-11-03", wallet: NOBODY });
    expect(totals).to.deep.equal({ usdc: "0", tx_count: 0, unique_recipients: 0, identified_pct: 0 });
    expect(groups).to.deep.equal([]);
    expect(daily).to.deep.equal([{ date: "2025-11-03", usdc: "0", tx_count: 0 }]);
  });

  it("lets other calls go on while it names thousands of recipients", async () => {
    const payment = { category: "x402", service: undefined, isAuthorized: true, at: 1_762_128_001 } as const;
    const place = { from: WALLET, amount: 1n, block: 1, index: 1, tx: "0x1" };
    const entries = Array.from({ length: 5000 }, (_, at) => ({ ...payment, ...place, to: toTopicAddress(at) }));
    let turns = 0;
    let next: NodeJS.Immediate;
    const take = (): void => {
      turns += 1;
      next = setImmediate(take);
    };
    take();
    const groups = await toGroups(entries, "service", await createToChecksum()).finally(() => clearImmediate(next));
    expect(groups).to.have.length(5000);
    expect(turns).to.be.at.least(10);
  });

  const failures = {
    "error:range": "refused to read logs (-32602)",
    "error:size": "refused to read logs (-32008)",
    "error:payload": "answered with what is no JSON-RPC (status 413)",
    "malformed:page": "answered with what is no JSON-RPC (status 200)",
    "malformed:log": "answered eth_getLogs with something else",
    "rate-limit": "has been asked too often",
    slow: "did not answer in time",
  };
  for (const [failure, complaint] of Object.entries(failures))
    it(`is not charged when a single block's logs are answered with ${failure}`, async () => {
      const headers = ["success:first-header", "success:before-header", "success:second-header"];
      const asked = replayAlways(NODE, RECORDING, [...headers, failure]);
      const ask = await start(failure === "slow" ? { timeoutMs: 300 } : {});
      const question = { from: "2025-11-03T00:00:00Z", to: "2025-11-03T00:00:01Z", wallet: WALLET };
      const { code, message, options } = await problemOf(ask(question));
      expect(code).to.equal("upstream-failed");
      expect(message).to.equal(`Base node ${complaint}`);
      expect(options.retryAfter).to.equal(failure === "rate-limit" ? 30 : undefined);
      expect(asked.asked.filter(({ case: name }) => name === failure)).to.have.length(1);
    });
});

describe("the question of a spend summary", () => {
  const ask = async (input: object): Promise<string[]> =>
    faultsOf((await serve("ledger_summary", ledger, createHost()))({ wallet: WALLET, ...input }));

  it("is refused for what is no date or datetime, and for days that do not exist", async () => {
    for (const text of ["yesterday", "2026-02-30", "2026-13-01", "2026-01-01T25:00Z", "1767225600", "2026-1-1", ""])
      expect(await ask({ from: text, to: text })).to.deep.equal(
        ["from", "to"].map(
          (field) =>
            `body.${field}: Value error, ${field} must be an ISO 8601 date or datetime, such as 2026-11-01 or 2026-11-01T12:00:00Z`,
        ),
      );
  });

  it("is refused when the range ends before it begins, or begins in the future", async () => {
    expect(await ask({ from: "2026-02-02", to: "2026-02-01" })).to.deep.equal([
      "body.from: Value error, from must not be after to",
    ]);
    expect(await ask({ from: "2027-02-01" })).to.deep.equal(["body.from: Value error, from lies in the future"]);
  });

  it("is refused when the range ends before Base has begun", async () => {
    for (const to of ["0000-01-01", "2022-01-01", "2023-06-14"])
      expect(await ask({ to })).to.deep.equal([
        "body.to: Value error, to must not be before the first block of Base, 2023-06-15T00:35:47Z",
      ]);
  });

  it("is refused for more than 120 days, with a way out", async () => {
    const [fault] = await ask({ from: "2026-01-01", to: "2026-05-01" });
    expect(fault).to.equal(
      "body.from: Value error, the range must not be longer than 120 days; choose a shorter one, or buy /v1/ledger/report",
    );
  });

  it("is refused for amounts that are no USDC", async () => {
    for (const min_amount of ["-1", "1e3", "0.0000001", "1,5", 1e-7, 0.1 + 0.2, ""])
      expect(await ask({ min_amount })).to.deep.equal([
        "body.min_amount: Value error, min_amount must be a plain decimal number with at most 6 decimals",
      ]);
    expect(await ask({ min_amount: -1 })).to.deep.equal([
      "body.min_amount: Input should be greater than or equal to 0",
    ]);
  });

  it("names every fault at once", async () => {
    expect(await ask({ from: "x", to: "y", min_amount: "z" })).to.have.length(3);
  });
});
