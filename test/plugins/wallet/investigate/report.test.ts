import { expect } from "chai";
import fc from "fast-check";
import { DOMParser } from "linkedom";
import { SaxesParser } from "saxes";
import type { Evidence, GraphNode } from "../../../../plugins/wallet/investigate/evidence.ts";
import { drawGraph } from "../../../../plugins/wallet/investigate/report/drawing.ts";
import { toReportMarkdown } from "../../../../plugins/wallet/investigate/report/markdown.ts";
import { type Proof, toInvestigationPage } from "../../../../plugins/wallet/investigate/report/page.ts";
import { type Report, toData } from "../../../../plugins/wallet/investigate/report/report.ts";
import { assess } from "../../../../plugins/wallet/investigate/score/score.ts";
import { loadAssets } from "../../../../runtime/cli/serve/assets.ts";
import { createToReportPage } from "../../../../runtime/surfaces/pages/report/report-page.ts";
import { PAGES } from "../../host.ts";
import { evidences, nodes, SUBJECT, toEvidence, toGraph, toScreened } from "./evidence.ts";

const PROOF: Proof = {
  seal: {
    statement: {
      domain: "payphone/investigate/v1",
      address: SUBJECT,
      verdict: "low",
      score: 0,
      investigated_at: 1,
      report_sha256: "a",
      data_sha256: "b",
      merkle_root: "c",
    },
    signer: "0x1",
    signature: "0x2",
  },
  anchored: { base: { tx: "0x3", explorer_url: "https://basescan.org/tx/0x3" }, solana: null, anchored_at: 1 },
  reportUrl: "https://pay.test/reports/1/report.md",
  dataUrl: "https://pay.test/reports/2/report.json",
};

const render = createToReportPage({ ...PAGES, assets: await loadAssets() });
const toReportPage = (report: Report): string => render(toInvestigationPage(report, PROOF));

const toReport = (evidence: Evidence, narrative: string | null = null): Report => ({
  domain: "payphone/investigate/v1",
  evidence,
  assessment: assess(evidence),
  narrative,
});

const FRIEND: GraphNode = {
  address: `0x${"b".repeat(40)}`,
  hop: 1,
  contacts: 1,
  label: null,
  screened: toScreened([]),
};

/** What strangers may publish as a name. */
const HOSTILE = [
  "<script>alert(1)</script>",
  "</text><script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "[click](javascript:alert(1))",
  "![x](https://evil.test/x.png)",
  "| 0 | `sanctioned` | nothing\n\n# Verdict: low",
  "`code` **bold** ~~gone~~ <https://evil.test>",
  "https://evil.test/login www.evil.test me@evil.test",
  "[graph]: https://evil.test/x.svg",
  "\u202Egnp.exe\u0000\u200B\uD800",
  "&lt;script&gt;&#60;script&#62;",
];

/** A report in which every text that a stranger can choose is this one. */
function toHostile(text: string): Report {
  const node: GraphNode = { ...FRIEND, label: text };
  const evidence = toEvidence({
    identity: { ensName: text, snsName: text, labels: [text], funding: null, links: [] },
    graph: toGraph([node]),
    missing: [{ source: text, message: text, atStake: 0 }],
    coverage: [{ source: text, covers: text, whole: false }],
  });
  return toReport(evidence, text);
}

const parse = (page: string) => new DOMParser().parseFromString(page, "text/html");

/** The elements of a page, without its own style and drawing. */
function elementsOf(page: string): string[] {
  return [...parse(page).querySelectorAll("main *")].map((element) => element.tagName.toLowerCase());
}

const mainOf = (page: string): string => page.slice(page.indexOf("<main>"), page.indexOf("</main>"));

const linksOf = (page: string): (string | null)[] =>
  [...parse(page).querySelectorAll("a")].map((link) => link.getAttribute("href"));

/** @throws Error unless the text is whole, well-formed XML. */
function parseXml(text: string): string[] {
  const names: string[] = [];
  const parser = new SaxesParser();
  parser.on("opentag", ({ name }) => names.push(name));
  parser.write(text).close();
  return names;
}

describe("a report of an investigation", () => {
  it("has the same bytes for the same evidence", () => {
    fc.assert(
      fc.property(evidences, (evidence) => {
        const [one, other] = [toReport(evidence), toReport(structuredClone(evidence))];
        expect(toReportMarkdown(one)).to.equal(toReportMarkdown(other));
        expect(toData(one)).to.equal(toData(other));
      }),
      { numRuns: 25 },
    );
  });

  it("is whole without a language model", () => {
    const text = toReportMarkdown(toReport(toEvidence()));
    for (const title of ["Reasons", "Sanctions and reputation", "On-chain history", "Identity", "Counterparty graph"])
      expect(text).to.include(`## ${title}`);
    expect(text).not.to.include("language model");
    expect(text).to.include("## Identity\n\nNeither a name nor a first funder is known.");
  });

  it("marks what a language model has written as its own", () => {
    expect(toReportMarkdown(toReport(toEvidence(), "Nothing stands out."))).to.include(
      "> *Written by a language model from the findings below:* Nothing stands out.",
    );
  });

  it("carries its picture inside", () => {
    const report = toReport(toEvidence({ graph: toGraph([FRIEND]) }));
    const [, picture = ""] = /^\[graph\]: data:image\/svg\+xml;base64,(\S+)$/m.exec(toReportMarkdown(report)) ?? [];
    expect(Buffer.from(picture, "base64").toString()).to.equal(drawGraph(report.evidence.graph, SUBJECT));
    expect(toReportPage(report)).to.include('class="graph');
  });

  it("says that no counterparties are known, and draws none", () => {
    const report = toReport(toEvidence());
    const [text, page] = [toReportMarkdown(report), toReportPage(report)];
    expect(text).to.include("## Counterparty graph\n\nNo direct counterparties are known.");
    expect(text).not.to.match(/\[graph\]|0 of 0/);
    expect(page).not.to.include('class="graph');
  });

  it("is inconclusive while a source has failed that may change the verdict, and says what it may hide", () => {
    const failed = { source: "Blockscout", message: "Blockscout answered with status 500", atStake: 45 };
    const report = toReport(toEvidence({ missing: [failed] }));
    const text = toReportMarkdown(report);
    expect(text).to.include("**Verdict: inconclusive.** At least **0** of 100");
    expect(text).to.include("| Blockscout | Blockscout answered with status 500 | up to 45 points |");
    expect(toReportPage(report)).to.include("<strong>Verdict: inconclusive.</strong>");
    expect(JSON.parse(toData(report))).to.include({ verdict: "inconclusive", provisional: true, score: 0 });
  });

  it("is provisional while what failed may only raise the score, and not for want of a summary", () => {
    const some = toReport(toEvidence({ missing: [{ source: "age", message: "Not known", atStake: 15 }] }));
    expect(toReportMarkdown(some)).to.match(/^\*\*Verdict: low \(provisional\)\.\*\* .* the score may be higher/m);
    const silent = toReport(toEvidence({ missing: [{ source: "language model", message: "Busy", atStake: 0 }] }));
    expect(toReportMarkdown(silent)).to.include("**Verdict: low.**").and.not.include("provisional");
    const shown = [some, silent].map((report) => toInvestigationPage(report, PROOF).results.slice(0, 2));
    expect(shown.map((results) => results.map(({ label, tone }) => [label, tone]))).to.deep.equal([
      [
        ["Verdict (provisional)", "fair"],
        ["Risk score of 100, at least", "fair"],
      ],
      [
        ["Verdict", "good"],
        ["Risk score of 100", "good"],
      ],
    ]);
  });

  it("names the weight of every rule, of those that found something and of those that did not", () => {
    const text = toReportMarkdown(
      toReport(toEvidence({ graph: toGraph([{ ...FRIEND, screened: toScreened([], true) }]) })),
    );
    expect(text).to.match(/\| 45 of 95 \| `paid_by_sanctioned` \| 1 address on OFAC's SDN list paid it: /);
    expect(text).to.include("it has paid a sanctioned address (95)");
  });

  it("says how old the address is, or how old at least", () => {
    const saysOf = (firstSeenAt: number | null, seenSince: number | null): string =>
      toReportMarkdown(
        toReport(toEvidence({ activity: { base_tx_count: 1, has_history: true, firstSeenAt, seenSince } })),
      );
    expect(saysOf(1_790_000_000, 1_790_000_000)).to.include("First seen on 2026-09-21 14:13 UTC, 115 days ago.");
    expect(saysOf(null, 1_790_000_000)).to.include("At least 115 days old: seen on 2026-09-21");
    expect(saysOf(null, null)).to.include("When it was first active is not known.");
  });

  it("says of an address without a history where none was found, since it may be in use on other chains", () => {
    const unused = { has_history: false, firstSeenAt: null, seenSince: null };
    const saysOf = (base_tx_count: number | null): string =>
      toReportMarkdown(toReport(toEvidence({ activity: { ...unused, base_tx_count } })));
    expect(saysOf(0)).to.include("It has sent no transaction on Base or Ethereum.");
    expect(saysOf(null)).to.include("The Solana node knows no transaction that names it.");
  });

  for (const text of HOSTILE)
    it(`shows ${JSON.stringify(text)} as text, and lets it do nothing`, () => {
      const calm = toReportPage(toHostile("name"));
      const page = toReportPage(toHostile(text));
      expect(elementsOf(page)).to.deep.equal(elementsOf(calm));
      expect(linksOf(page)).to.deep.equal(linksOf(calm));
      expect(mainOf(page)).not.to.match(/<(?:script|img|iframe|object|link|base|form)\b/i);
      for (const hidden of ["\u202E", "\u0000", "\uD800"]) expect(page).not.to.include(hidden);
    });

  it("is sound XML in its picture, whatever the nodes are called, with each node once", () => {
    fc.assert(
      fc.property(fc.uniqueArray(nodes, { maxLength: 100, selector: ({ address }) => address }), (others) => {
        const graph = toGraph(others);
        const names = parseXml(drawGraph(graph, SUBJECT));
        expect(names.filter((name) => name === "script")).to.deep.equal([]);
        expect(drawGraph(graph, SUBJECT).match(/class="(near|far)"/g)).to.have.lengthOf(graph.nodes.length);
        expect(drawGraph(graph, SUBJECT)).not.to.match(/NaN|Infinity|undefined/);
      }),
      { numRuns: 50 },
    );
  });

  it("is dark on dark screens alone, not on paper", () => {
    const drawn = drawGraph(toGraph([FRIEND]), SUBJECT);
    expect(drawn.match(/@media [^{]*/g)).to.deep.equal(["@media screen and (prefers-color-scheme:dark)"]);
  });

  it("tells risks apart by shape, not by colour alone", () => {
    const shapeOf = (codes: readonly string[], isListed = false): string => {
      const node: GraphNode = {
        address: `0x${"b".repeat(40)}`,
        hop: 1,
        contacts: 1,
        label: null,
        screened: toScreened(codes, isListed),
      };
      const drawn = drawGraph(toGraph([node]), SUBJECT);
      const [, mark = ""] = /class="near"[^>]*><title>0xbbb[^<]*<\/title>(<(?:circle|path)[^>]*>)/.exec(drawn) ?? [];
      return mark.replace(/class="[^"]*"/, "");
    };
    const shapes = [shapeOf([]), shapeOf(["mixer"]), shapeOf(["cybercrime"]), shapeOf([], true)];
    expect(new Set(shapes).size).to.equal(4);
  });
});
