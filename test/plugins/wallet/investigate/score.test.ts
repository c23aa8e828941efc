import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import type { Evidence, GraphNode } from "../../../../plugins/wallet/investigate/evidence.ts";
import { RULES } from "../../../../plugins/wallet/investigate/score/rules.ts";
import { assess } from "../../../../plugins/wallet/investigate/score/score.ts";
import type { ScreenResponse } from "../../../../plugins/wallet/screen/response.ts";
import {
  evidences,
  nodes,
  SUBJECT,
  toEvidence,
  toFlow,
  toGraph,
  toMovements,
  toResponse,
  toScreened,
} from "./evidence.ts";

const ADDRESS = `0x${"a".repeat(40)}`;
const toNode = (hop: 1 | 2, codes: readonly string[], isListed = false): GraphNode => ({
  address: hop === 1 ? ADDRESS : ADDRESS.replaceAll("a", "b"),
  hop,
  contacts: 1,
  label: null,
  screened: toScreened(codes, isListed),
});
const screen = (codes: readonly string[]): ScreenResponse => toResponse(toScreened(codes, false));
const OLD_LIST = { ...screen([]), risk_score: 30, risk_level: "medium" } as const;
const codesOf = (evidence: Evidence): string[] => assess(evidence).reasons.map(({ code }) => code);
const around = (...others: GraphNode[]): Evidence => toEvidence({ graph: toGraph(others) });
const withMovements = (recipients: number, received = "0", sent = "0"): Evidence =>
  toEvidence({ movements: toMovements(received, sent, { recipients }) });
const seenDaysAgo = (days: number): Evidence => {
  const seen = 1_800_000_000 - days * 86_400;
  return toEvidence({ activity: { base_tx_count: 1, has_history: true, firstSeenAt: seen, seenSince: seen } });
};
/** A direct counterparty that was paid, or paid the subject, this much. */
const dealing = (codes: readonly string[], isListed: boolean, paid: string, wasPaid = "0"): Evidence => {
  const [sent, received] = [toFlow(SUBJECT, ADDRESS, wasPaid), toFlow(ADDRESS, SUBJECT, paid)];
  const flows = [sent, received].filter(({ amount }) => amount !== "0");
  const graph = { ...toGraph([toNode(1, codes, isListed)]), flows };
  return toEvidence({ graph, movements: toMovements("1000000", "800000", { senders: 50 }) });
};

/** Dollars that an address in between sent to the subject, got from the address behind it, and sent to that one. */
interface Path {
  readonly contacts: number;
  readonly near: string;
  readonly back?: string;
  readonly out?: string;
}

describe("the score of an investigation", () => {
  it("is 0 and low where nothing speaks against the address", () => {
    expect(assess(toEvidence())).to.deep.equal({ score: 0, verdict: "low", provisional: false, reasons: [] });
  });

  it("is 100 for a sanctioned address, and for no other one", () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        expect(assess(evidence).score === 100).to.equal(evidence.screened.sanctions_match);
      }),
    );
  });

  it("stays between 0 and 100, is whole, and is alike for the same evidence", () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const found = assess(evidence);
        expect(found.score).to.be.within(0, 100);
        expect(Number.isInteger(found.score)).to.equal(true);
        expect(assess(structuredClone(evidence))).to.deep.equal(found);
      }),
    );
  });

  it("never falls because one more address is found around the subject", () => {
    fc.assert(
      fc.property(evidences, nodes, (evidence, node) => {
        const others = evidence.graph.nodes.slice(1);
        fc.pre(others.every(({ address }) => address !== node.address));
        const more = { ...evidence, graph: toGraph([...others, node]) };
        expect(assess(more).score).to.be.at.least(assess(evidence).score);
      }),
    );
  });

  it("does not depend on the order in which addresses were found", () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const [subject, ...others] = evidence.graph.nodes;
        const nodes = [...(subject ? [subject] : []), ...others.reverse()];
        const graph = { ...evidence.graph, nodes, flows: [...evidence.graph.flows].reverse() };
        expect(assess({ ...evidence, graph }).score).to.equal(assess(evidence).score);
      }),
    );
  });

  it("is the sum of its reasons, at most 99 for those who are not sanctioned", () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        fc.pre(!evidence.screened.sanctions_match);
        const { score, reasons } = assess(evidence);
        const sum = reasons.reduce((total, { points }) => total + points, 0);
        expect(score).to.equal(Math.min(99, sum));
      }),
    );
  });

  for (const [name, evidence, code, points] of [
    ["a flag of GoPlus", toEvidence({ screened: screen(["phishing_activities"]) }), "bad_reputation", 70],
    ["a list that is not current", toEvidence({ screened: OLD_LIST }), "not_screened", 30],
    ["a dollar sent to a sanctioned address", dealing([], true, "0", "1"), "paid_sanctioned", 70],
    ["a tenth of a cent sent to one", dealing([], true, "0", "0.001"), "paid_sanctioned", 40],
    ["a fortune sent to one", dealing([], true, "0", "32500"), "paid_sanctioned", 90],
    ["a hundred dollars of a sanctioned address", dealing([], true, "100"), "paid_by_sanctioned", 45],
    ["a fortune of one", dealing([], true, "32500"), "paid_by_sanctioned", 75],
    ["dust of one", dealing([], true, "0.999999"), "dusted_by_sanctioned", 5],
    ["a sanctioned address two hops away", around(toNode(1, []), toNode(2, [], true)), "near_sanctioned", 10],
    ["a tenth of a cent sent to a mixer", dealing(["mixer"], false, "0", "0.001"), "mixer_contact", 20],
    ["a mixer", dealing(["mixer"], false, "1000"), "mixer_contact", 40],
    ["a little of a mixer", dealing(["mixer"], false, "250"), "dusted_by_mixer", 5],
    ["a phisher's money", dealing(["phishing_activities"], false, "1000"), "bad_counterparties", 25],
    ["a phisher's victim", dealing(["phishing_activities"], false, "0", "1000"), "bad_counterparties", 10],
    ["a phisher two hops away", around(toNode(1, []), toNode(2, ["phishing_activities"])), "bad_neighbourhood", 5],
    ["a thief's mixer there", around(toNode(1, []), toNode(2, ["mixer", "stealing_attack"])), "bad_neighbourhood", 5],
    ["an age of 6 days", seenDaysAgo(6), "young", 15],
    ["an age of 29 days", seenDaysAgo(29), "young", 8],
    ["100 recipients", withMovements(100), "fan_out", 5],
    ["500 recipients", withMovements(500), "fan_out", 10],
    ["money that passes through", withMovements(3, "1000", "900"), "pass_through", 5],
  ] as const)
    it(`counts ${name} as ${code}, ${points} points`, () => {
      const { reasons } = assess(evidence);
      expect(reasons.map((reason) => [reason.code, reason.points])).to.deep.equal([[code, points]]);
    });

  it("says of less than a dollar who sent it", () => {
    const said = (evidence: Evidence): string | undefined => assess(evidence).reasons[0]?.finding;
    const share = "in 1 transfer (less than 0.1 % of all that it";
    expect(said(dealing([], true, "0", "0.001"))).to.contain("It has paid 1 address on OFAC's SDN list: ");
    expect(said(dealing([], true, "0", "0.001"))).to.contain(`, less than a dollar sent ${share} sent)`);
    expect(said(dealing([], true, "0.4"))).to.contain(`, less than a dollar received ${share} received)`);
  });

  it("measures what an address received by all that it received, however little it has sent", () => {
    const returned = (codes: readonly string[], isListed: boolean): ReturnType<typeof assess> => {
      const { graph } = dealing(codes, isListed, "150", "150");
      return assess(toEvidence({ graph, movements: toMovements("1000000", "150", { senders: 500 }) }));
    };
    const { verdict, reasons } = returned(["phishing_activities"], false);
    expect([verdict, reasons.map(({ points }) => points)]).to.deep.equal(["low", [10]]);
    expect(reasons[0]?.finding).to.contain("(100 % of all that it sent, less than 0.1 % of all that it received)");
    expect(returned([], true).reasons.map(({ code, points }) => [code, points])).to.deep.equal([
      ["paid_sanctioned", 80],
      ["paid_by_sanctioned", 12],
    ]);
  });

  it("counts neither 30 days, nor 99 recipients, nor what mostly stayed", () => {
    for (const evidence of [
      seenDaysAgo(30),
      withMovements(99),
      withMovements(3, "1000", "899"),
      withMovements(3, "999", "999"),
    ])
      expect(codesOf(evidence)).to.deep.equal([]);
  });

  it("counts an address that was never used, and not one that has only paid by signatures", () => {
    const activity = { base_tx_count: 0, has_history: false, firstSeenAt: null, seenSince: null };
    const nothing = { ...toMovements("0", "0"), volumes: [], firstAt: null, lastAt: null };
    expect(codesOf(toEvidence({ activity, movements: nothing }))).to.deep.equal(["unused"]);
    expect(codesOf(toEvidence({ activity, movements: toMovements("5", "5") }))).to.deep.equal([]);
  });

  it("counts what a sanctioned address sent as dust, below a dollar, and only until it is answered", () => {
    const dusted = (amount: string, ...more: ReturnType<typeof toFlow>[]): string[] => {
      const graph = { ...toGraph([toNode(1, [], true)]), flows: [toFlow(ADDRESS, SUBJECT, amount), ...more] };
      return codesOf(toEvidence({ graph }));
    };
    expect(dusted("0.999999")).to.deep.equal(["dusted_by_sanctioned"]);
    expect(dusted("1")).to.deep.equal(["paid_by_sanctioned"]);
    const grains = Array.from({ length: 200 }, () => toFlow(ADDRESS, SUBJECT, "0.001"));
    expect(dusted("0.001", ...grains), "20 cents in all").to.deep.equal(["dusted_by_sanctioned"]);
    const { largest: _, ...earlier } = toFlow(ADDRESS, SUBJECT, "0.5");
    expect(dusted("0.2", earlier as typeof earlier & { largest: string }), "a job that was begun before").to.deep.equal(
      ["dusted_by_sanctioned"],
    );
    expect(dusted("0.5", toFlow(SUBJECT, ADDRESS, "0.1"))).to.deep.equal(["paid_sanctioned", "paid_by_sanctioned"]);
  });

  it("counts what came from two hops away in pieces below a dollar, where it is a hundred dollars in all", () => {
    const far = toNode(2, [], true);
    const scoreOf = (amount: string): number => {
      const pieces = { ...toFlow(far.address, ADDRESS, amount), largest: "0.9", count: 1000 };
      const flows = [toFlow(ADDRESS, SUBJECT, "900"), pieces];
      return assess(toEvidence({ graph: { ...toGraph([toNode(1, []), far]), flows } })).score;
    };
    expect([scoreOf("99.99"), scoreOf("100")]).to.deep.equal([0, 10]);
  });

  it("never falls because another path leads to the same address, however much money went that way", () => {
    const scoreOf = (codes: readonly string[], isListed: boolean, ...paths: Path[]): number => {
      const far = toNode(2, codes, isListed);
      const vias = paths.map(({ contacts }, at): GraphNode => {
        return { ...toNode(1, []), address: ADDRESS.replace("a", String(at)), contacts };
      });
      const flows = vias.flatMap(({ address }, at) => {
        const { near, back = "0", out = "0" } = paths[at] as Path;
        const all = [
          toFlow(address, SUBJECT, near),
          toFlow(far.address, address, back),
          toFlow(address, far.address, out),
        ];
        return all.filter(({ amount }) => amount !== "0");
      });
      return assess(toEvidence({ graph: { ...toGraph([...vias, far]), flows } })).score;
    };
    const [direct, met] = [
      { contacts: 2, near: "20000", back: "20000" },
      { contacts: 2, near: "90000", out: "90000" },
    ];
    const exchange = { contacts: 60, near: "50000", back: "50000" };
    const dust = { contacts: 2, near: "0.9", back: "0.9" };
    expect(scoreOf([], true, direct)).to.equal(30);
    for (const other of [exchange, met, dust]) expect(scoreOf([], true, direct, other)).to.equal(30);
    expect(scoreOf([], true, exchange, dust)).to.equal(3);
    expect(scoreOf(["phishing_activities"], false, direct, exchange)).to.equal(5);
  });

  it("counts a sanctioned address that the subject's ENS name gives, and none that merely had the same funder", () => {
    const linked = (reason: "ens-record" | "shared-funding"): string[] => {
      const links = [{ address: ADDRESS, reason, screened: toScreened([], true) }];
      return codesOf(toEvidence({ identity: { ...toEvidence().identity, links } }));
    };
    expect(linked("ens-record")).to.deep.equal(["linked_sanctioned"]);
    expect(linked("shared-funding")).to.deep.equal([]);
  });

  it("is documented rule by rule", () => {
    const text = readFileSync(join(import.meta.dirname, "../../../../plugins/wallet/investigate/README.md"), "utf8");
    const documented = [...text.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code);
    expect(documented).to.deep.equal(RULES.map(({ code }) => code));
  });
});
