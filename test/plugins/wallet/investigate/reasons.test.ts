import { expect } from "chai";
import type { Evidence } from "../../../../plugins/wallet/investigate/evidence.ts";
import { toReportMarkdown } from "../../../../plugins/wallet/investigate/report/markdown.ts";
import { assess } from "../../../../plugins/wallet/investigate/score/score.ts";
import { toEvidence, toGraph, toMovements, toResponse, toScreened } from "./evidence.ts";

/** The reasons that a report calls not found, and those of which it says that no source could tell. */
function toSaid(evidence: Evidence): readonly [absent: string, open: string] {
  const report = { domain: "d", evidence, assessment: assess(evidence), narrative: null };
  const lines = toReportMarkdown(report).split("\n");
  const find = (start: string): string => lines.find((line) => line.startsWith(start)) ?? "";
  return [find("Looked for and not found"), find("No source that was read can tell")];
}

const UNKNOWN = { ...toScreened([]), partial: true };
const toNode = (screened: typeof UNKNOWN) => ({
  address: `0x${"a".repeat(40)}`,
  hop: 1 as const,
  contacts: 1,
  label: null,
  screened,
});
const ABOUT_GOPLUS = ["GoPlus has flags", "dealt with a mixer", "dealt with an address of bad reputation"];

describe("the head of an investigation's report", () => {
  const headOf = (changes: Partial<Evidence>): string => {
    const evidence = toEvidence(changes);
    const report = toReportMarkdown({ domain: "d", evidence, assessment: assess(evidence), narrative: null });
    return report.slice(0, report.indexOf("## Reasons"));
  };

  it("names the chain and the tokens that were read, and says that others were not", () => {
    const address = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
    const head = headOf({});
    expect(head).to.match(/^# Investigation of `0x5{40}` on Base\n/);
    expect(head).to.contain("USDC and ETH on Base were looked at: none of other tokens, and none on other chains.");
    const solana = headOf({ subject: { family: "solana", address } });
    expect(solana.startsWith(`# Investigation of \`${address}\` on Solana\n`)).to.equal(true);
    expect(solana).to.contain("USDC and SOL were looked at: none of other tokens.").and.not.to.contain("Base");
  });
});

describe("the age of a young address", () => {
  it("is that on the chain that was read: it may be older on others", () => {
    const activity = { base_tx_count: 5, has_history: true, firstSeenAt: 1_799_900_000, seenSince: 1_799_900_000 };
    const [reason] = assess(toEvidence({ activity })).reasons;
    expect(reason).to.include({ code: "young", finding: "It was first seen on Base 1 day ago." });
  });
});

describe("the reasons that an investigation has not found", () => {
  it("are all of them where nothing speaks against the address and all was read", () => {
    const [absent, open] = toSaid(toEvidence());
    for (const about of [...ABOUT_GOPLUS, "younger than 30 days", "its ENS name"]) expect(absent).to.contain(about);
    expect(open).to.equal("");
  });

  it("do not include what GoPlus was never asked about, as on Solana", () => {
    const subject = { family: "solana", address: "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T" } as const;
    const [absent, open] = toSaid(
      toEvidence({ subject, screened: toResponse(UNKNOWN), graph: toGraph([toNode(UNKNOWN)]) }),
    );
    for (const about of [...ABOUT_GOPLUS, "its ENS name"]) {
      expect(absent).not.to.contain(about);
      expect(open).to.contain(about);
    }
    expect(absent).to.contain("it has paid a sanctioned address");
  });

  it("do not include what GoPlus did not answer", () => {
    const [absent, open] = toSaid(
      toEvidence({
        screened: toResponse(UNKNOWN),
        graph: toGraph([toNode(UNKNOWN), { ...toNode(UNKNOWN), address: "0xb" }]),
      }),
    );
    for (const about of ABOUT_GOPLUS) {
      expect(absent).not.to.contain(about);
      expect(open).to.contain(about);
    }
    const some = toGraph([toNode(UNKNOWN), { ...toNode(toScreened([])), address: "0xb" }]);
    expect(toSaid(toEvidence({ graph: some }))[0]).to.contain("dealt with a mixer");
  });

  it("do not include the flags of a sanctioned address, which count beside the list", () => {
    const evidence = toEvidence({ screened: toResponse(toScreened(["money_laundering"], true)) });
    expect(toSaid(evidence).join(" ")).not.to.contain("GoPlus has flags");
    expect(assess(evidence)).to.deep.include({ score: 100, verdict: "critical" });
    expect(assess(evidence).reasons.map(({ code, points }) => [code, points])).to.deep.equal([
      ["sanctioned", 100],
      ["bad_reputation", 70],
    ]);
  });

  it("include that the list could not be searched, unless it could not", () => {
    const screened = toResponse(toScreened(["phishing_activities"]));
    const about = "the present sanctions list could not be searched";
    const [absent, open] = toSaid(toEvidence({ screened }));
    expect([absent.includes(about), open]).to.deep.equal([true, ""]);
    const missing = [{ source: "OFAC's sanctions list", message: "The present list could not be read", atStake: 100 }];
    const unread = toSaid(toEvidence({ screened, missing }));
    expect(unread.map((said) => said.includes(about))).to.deep.equal([false, true]);
  });

  it("do not include what the name's other addresses would have shown, where they could not be read", () => {
    for (const source of ["ens_name", "ENS records"]) {
      const [absent, open] = toSaid(
        toEvidence({ missing: [{ source, message: "No answer came in time", atStake: 80 }] }),
      );
      expect(absent).not.to.contain("its ENS name");
      expect(open).to.contain("its ENS name");
    }
  });

  it("do not include that it was never used, where nothing tells whether it was", () => {
    const activity = { base_tx_count: null, has_history: null, firstSeenAt: null, seenSince: null };
    const unknown = toSaid(toEvidence({ activity, movements: toMovements("0", "0", { firstAt: null, lastAt: null }) }));
    expect(unknown.map((said) => said.includes("it was never used"))).to.deep.equal([false, true]);
    const moved = toSaid(toEvidence({ activity }));
    expect(moved.map((said) => said.includes("it was never used"))).to.deep.equal([true, false]);
  });

  it("do not include an age that is not known", () => {
    const ageOf = (firstSeenAt: number | null, seenSince: number | null): readonly [string, string] =>
      toSaid(toEvidence({ activity: { base_tx_count: 5, has_history: true, firstSeenAt, seenSince } }));
    for (const unknown of [ageOf(null, null), ageOf(null, 1_799_000_000)]) {
      expect(unknown[0]).not.to.contain("younger");
      expect(unknown[1]).to.contain("younger than 30 days");
    }
    expect(ageOf(null, 1_600_000_000)[0]).to.contain("younger than 30 days");
  });
});
