import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { verifyMessage } from "viem";
import { toLedgerMarkdown } from "../../../plugins/ledger/report/markdown.ts";
import { toPageContent } from "../../../plugins/ledger/report/page.ts";
import type { LedgerQuery } from "../../../plugins/ledger/request.ts";
import { summarize } from "../../../plugins/ledger/summary.ts";
import { Problem } from "../../../runtime/api/problem.ts";
import { createFolder } from "../../support/folder.ts";
import { offline } from "../../support/sources/replay.ts";
import { NOW, problemOf, TREASURY } from "../host.ts";
import { toTopicAddress, WALLET } from "./base-node.ts";
import { ENTRY, make, QUERY, readGolden, withoutLook } from "./report-stage.ts";

const COMMAND = "node test/plugins/ledger/write-golden.ts";
const sha256 = (text: string | undefined): string =>
  createHash("sha256")
    .update(text ?? "", "utf8")
    .digest("hex");

describe("a spend report", () => {
  offline();

  for (const name of ["report.md", "report.html", "transfers.csv"])
    it(`has the same bytes for the same question, registry and chain, whenever it is made: ${name}`, async () => {
      const first = await make();
      const later = await make({}, {}, { clock: { now: () => NOW + 86_400_000 } });
      expect(later.files.get(name)).to.equal(first.files.get(name));
      expect(withoutLook(first.files.get(name) ?? ""), `rewrite it with "${COMMAND}"`).to.equal(readGolden(name));
    });

  it("is delivered in exactly the decided fields", async () => {
    const { deliverable, files, host } = await make();
    const { signature, report_sha256, csv_sha256, anchor, ...rest } = deliverable;
    expect(rest).to.deep.equal({
      report_markdown_url: "https://pay.test/reports/1/report.md",
      report_html_url: "https://pay.test/reports/3/report.html",
      report_csv_url: "https://pay.test/reports/2/transfers.csv",
      registry_version: rest.registry_version,
      spec_version: "1.0",
    });
    expect(report_sha256).to.equal(sha256(files.get("report.md")));
    expect(csv_sha256).to.equal(sha256(files.get("transfers.csv")));
    expect(files.get("report.md"), "the hash of the CSV").to.include(csv_sha256);
    expect(host.chain.get(anchor.base_tx)?.input).to.equal(`0x${report_sha256}`);
    expect(anchor.solana_tx).to.equal("s".repeat(88));
    expect(signature).to.include({ signer: TREASURY.address, scheme: "eip191", domain: "payphone/ledger/v1" });
  });

  it("is signed over both hashes, the wallet and the range, in a text that anybody can put together", async () => {
    const { deliverable } = await make();
    const { signature, report_sha256, csv_sha256, registry_version } = deliverable;
    const message = [
      "payphone/ledger/v1",
      "wallet=0x7ab4E3C19F2D5a86B0C4E1D83F9A6752C1b0E8d4",
      "from=2025-11-03T00:00:00Z",
      "to=2025-11-09T23:59:59Z",
      `report=${report_sha256}`,
      `csv=${csv_sha256}`,
      `registry=${registry_version}`,
    ].join("\n");
    expect(signature.message).to.equal(message);
    const value = signature.value as `0x${string}`;
    expect(await verifyMessage({ address: TREASURY.address, message, signature: value })).to.equal(true);
  });

  it("is only what was asked for: markdown", async () => {
    const { deliverable, files } = await make({ format: "markdown" });
    expect([...files.keys()]).to.deep.equal(["report.md", "report.html"]);
    expect(deliverable).to.include({ report_csv_url: null, csv_sha256: null });
    expect(deliverable.signature.message).to.include("\ncsv=none\n");
  });

  it("is only what was asked for: CSV, whose hash is then the one that is anchored", async () => {
    const { deliverable, files, host } = await make({ format: "csv" });
    expect([...files.keys()]).to.deep.equal(["transfers.csv"]);
    expect(deliverable).to.include({ report_markdown_url: null, report_html_url: null });
    expect(deliverable.report_sha256).to.equal(deliverable.csv_sha256);
    expect(host.chain.get(deliverable.anchor.base_tx)?.input).to.equal(`0x${sha256(files.get("transfers.csv"))}`);
  });

  it("has a line in the CSV for every transfer that its totals count", async () => {
    const { files } = await make({ include_unfiltered: true });
    const [header, ...lines] = (files.get("transfers.csv") ?? "").trimEnd().split("\n");
    expect(header).to.equal("time,direction,category,service_id,label,from,to,usdc,transaction,block,log_index");
    expect(files.get("report.md")).to.include(`| Transfers | ${lines.length} |`);
    const millionths = lines.map((line) => Math.round(Number(line.split(",")[7]) * 1e6));
    expect(files.get("report.md")).to.include(`| USDC | ${millionths.reduce((sum, amount) => sum + amount) / 1e6} |`);
  });

  it("shows a title as it was written, whatever it is made of", async () => {
    const title = "<img src=x onerror=alert(1)> **bold** [a](javascript:x) | cell\n# two `code` &lt; https://evil.test";
    const { files } = await make({ title, prepared_for: "</p><script>alert(2)</script> ‮x" });
    const html = files.get("report.html") ?? "";
    expect(html).not.to.match(/<(img|script|a|strong|em|code)[ >][^<]*(alert|evil|bold|two)/i);
    const [, shown = ""] = /<h1>(.*?)<\/h1>/s.exec(html) ?? [];
    const text = shown
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&quot;", '"')
      .replaceAll("&amp;", "&");
    expect(text).to.equal(title.replace("\n", " "));
    expect(files.get("report.md")?.split("\n")[0]).to.match(/^# \\</);
  });

  it("has its usual title and names nobody where a text is blank", async () => {
    const { files } = await make({ title: " \u200b", prepared_for: "" });
    expect(files.get("report.md")).to.match(/^# Spend report\n\n\| About/);
  });

  it("has no characters in its header that only change how others are read", async () => {
    const { files } = await make({ title: "a\u202eb\u0000c\ud800d", prepared_for: "\u2066e\n\nf" });
    expect(files.get("report.md")).to.match(/^# a b c\ufffdd\n\nPrepared for e f\n/);
  });

  it("lets no name of the registry be a formula in a spreadsheet, nor a cell in the markdown", async () => {
    const folder = createFolder();
    const path = join(folder, "registry.json");
    const recipients = ["0xb81d4f60c7a93e2550f8d1b6e47a0c92d35e6f18"];
    const service = { id: "@id", label: '=HYPERLINK("https://evil.test") | <b>x', recipients };
    writeFileSync(path, JSON.stringify({ version: "1", services: [service] }));
    const { files } = await make({}, {}, { env: { LEDGER_REGISTRY: path } });
    expect(files.get("transfers.csv")).to.include(`,'@id,"'=HYPERLINK(""https://evil.test"") | <b>x",`);
    expect(files.get("report.md")).to.include('| =HYPERLINK("https\\://evil.test") \\| \\<b\\>x |');
    expect(files.get("report.html")).to.include(">=HYPERLINK(&quot;https://evil.test&quot;) | &lt;b&gt;x</span></td>");
  });

  it("shows the 500 largest groups, and what the others come to", async () => {
    const entries = Array.from({ length: 503 }, (_, at) => ({
      ...ENTRY,
      to: toTopicAddress(at),
      amount: BigInt(1000 - at),
      block: at,
    }));
    const summary = await summarize(QUERY, { span: undefined, entries }, (address) => address);
    const heading = {
      title: null,
      preparedFor: null,
      groupBy: "recipient",
      leastUsdc: "0",
      withOthers: false,
    } as const;
    const markdown = toLedgerMarkdown(summary, {
      ...heading,
      registryVersion: "1",
      specVersion: "1.0",
      csvSha256: undefined,
    });
    expect(markdown.match(/^\| unlisted /gm)).to.have.length(500);
    expect(markdown).to.include("\n3 further groups come to 0.001497 USDC together.\n");
    expect(markdown).to.match(/^# Spend report\n/);
  });

  it("has the links to its files, its signature and its anchors on the page", async () => {
    const { files, deliverable } = await make();
    const page = files.get("report.html") ?? "";
    const { report_markdown_url, report_csv_url, report_sha256, csv_sha256, signature, anchor } = deliverable;
    for (const url of [report_markdown_url, report_csv_url])
      expect(page).to.include(`<a class="button" href="${url}">`);
    const proof = page.slice(page.indexOf(">Proof</h2>"));
    for (const text of [report_sha256, csv_sha256, signature.value, signature.message])
      expect(proof).to.include(`<span class="plain">${text}</span>`);
    expect(proof).to.include(`data-copy="${signature.signer}"`).and.include(`>${anchor.base_tx}</a>`);
    expect((await make({ format: "markdown" })).files.get("report.html")).not.to.include("transfers.csv");
  });

  it("has its totals and its chart on the page, and neither chart nor alarm where nothing was spent", async () => {
    const { files } = await make();
    const page = files.get("report.html") ?? "";
    expect(page).to.include("<dt>Spent</dt><dd>0.864 USDC</dd>").and.include("<dt>Transfers</dt><dd>36</dd>");
    expect(page.match(/<rect class="bar"/g)).to.have.length(2 * 7);
    const none = (await make({ min_amount: 1_000_000 })).files;
    expect(none.get("report.html"))
      .to.include("No transfer in the range fits the question.")
      .and.not.include('class="chart"');
    expect(none.get("report.md")).to.include("\n## By service\n\nNo transfers.\n");
  });

  it("has both sums on the page where it counts both ways", async () => {
    const other = toTopicAddress(1);
    const entries = [
      { from: WALLET, to: other, amount: 3n },
      { from: other, to: WALLET, amount: 5n },
    ].map((moved, index) => ({ ...ENTRY, ...moved, index }));
    const query = { ...QUERY, direction: "both" } as LedgerQuery;
    const { results } = toPageContent("", await summarize(query, { span: undefined, entries }, (address) => address));
    expect(results.slice(0, 2)).to.deep.equal([
      { label: "Spent", value: "0.000003 USDC" },
      { label: "Received", value: "0.000005 USDC" },
    ]);
  });

  it("repeats neither the publication nor the anchor when a job goes on after a crash", async () => {
    const kept = new Map<string, unknown>();
    const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      if (!kept.has(name)) kept.set(name, JSON.parse(JSON.stringify(await work())));
      return kept.get(name) as T;
    };
    const broken = { ready: async () => {}, write: () => Promise.reject(new Error("the process was killed")) };
    const failure = await make({}, { step }, { anchor: broken }).catch((error: Error) => error.message);
    expect(failure).to.equal("the process was killed");
    const second = await make({}, { step });
    expect([...second.files.keys()], "files that are published after the anchor").to.deep.equal(["report.html"]);
    const third = await make({}, { step }, { anchor: broken });
    expect(third.deliverable).to.deep.equal(second.deliverable);
    expect([...kept.keys()]).to.deep.equal(["write the report", "anchor the report", "publish the page"]);
  });

  it("tells whoever polls it how far it is", async () => {
    const told: string[] = [];
    await make({}, { report: (progress) => told.push(progress) });
    expect(told.at(0)).to.equal("finding the blocks of the range");
    expect(told).to.include("reading transfers: 100 %").and.to.include("writing the report");
  });

  it("fails when Base cannot be anchored to, so that its price is paid back", async () => {
    const anchor = {
      ready: async () => {},
      write: () => Promise.reject(new Problem("upstream-failed", "Base is down")),
    };
    expect((await problemOf(make({}, {}, { anchor }))).code).to.equal("upstream-failed");
  });
});

describe("the questions of summary and report", () => {
  it("have the same fields, and a report has three more", async () => {
    const { default: summary } = await import("../../../schemas/LedgerSummaryRequest.json", { with: { type: "json" } });
    const { default: report } = await import("../../../schemas/LedgerReportRequest.json", { with: { type: "json" } });
    const { format, title, prepared_for, ...shared } = report.properties;
    expect(shared).to.deep.equal(summary.properties);
    expect(format.default).to.equal("both");
    for (const { type } of [title, prepared_for]) expect(type).to.deep.equal(["string", "null"]);
  });
});
