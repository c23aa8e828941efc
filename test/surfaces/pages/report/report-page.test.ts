import { expect } from "chai";
import fc from "fast-check";
import { DOMParser } from "linkedom";
import { ADDRESS, CHECKSUMMED, render, SOLANA_ADDRESS, TX, toMain, toReport } from "./stage.ts";

const parse = (page: string) => new DOMParser().parseFromString(page, "text/html");

describe("the page of a report", () => {
  it("has the seller's name on top, and its contact below", () => {
    const page = parse(render(toReport()));
    expect(page.querySelector(".brand")?.textContent).to.equal("payphone");
    expect(page.querySelector(".brand")?.getAttribute("href")).to.equal("https://pay.test/");
    expect(page.querySelector("footer")?.textContent).to.include("Made by payphone.");
    expect(page.querySelector("title")?.textContent).to.equal(`Report about ${ADDRESS} - payphone`);
  });

  it("shortens addresses as EIP-55 writes them, with a button to copy and a link to the chain's explorer", () => {
    const main = parse(render(toReport())).querySelector("tbody");
    const refs = [...(main?.querySelectorAll(".ref") ?? [])].map((ref) => ({
      text: ref.querySelector("a")?.textContent,
      url: ref.querySelector("a")?.getAttribute("href"),
      copied: ref.querySelector("button")?.getAttribute("data-copy"),
    }));
    expect(refs).to.deep.equal([
      { text: CHECKSUMMED, copied: CHECKSUMMED, url: `https://basescan.org/address/${CHECKSUMMED}` },
      { text: TX, copied: TX, url: `https://basescan.org/tx/${TX}` },
      { text: SOLANA_ADDRESS, copied: SOLANA_ADDRESS, url: `https://solscan.io/account/${SOLANA_ADDRESS}` },
      { text: TX, copied: TX, url: `https://basescan.org/tx/${TX}` },
    ]);
    expect(main?.querySelector(".middle")?.textContent).to.equal(CHECKSUMMED.slice(6, -4));
  });

  it("shows as it is what is no address, for all its likeness to one", () => {
    const names = [`0X${"ab".repeat(20)}`, `0X${"ab".repeat(32)}`, "0xab"];
    const page = parse(render(toReport({ markdown: `# T\n\n${names.map((name) => `\`${name}\``).join(" ")}\n` })));
    const codes = [...page.querySelectorAll("main > p code")];
    expect(codes.map(({ innerHTML }) => innerHTML)).to.deep.equal(names);
  });

  it("aligns columns of amounts right, to the same number of decimals where they have no token", () => {
    const rows = [...parse(render(toReport())).querySelectorAll("tbody tr")];
    const cells = rows.map((row) => [...row.querySelectorAll("td.number")].map(({ textContent }) => textContent));
    expect(cells).to.deep.equal([
      ["1,234.57 USDC", "0.001"],
      ["0.5 ETH2 USDC", "12.500"],
    ]);
    expect(render(toReport())).to.include('<data value="1234.567891" title="1234.567891 USDC">1,234.57 USDC</data>');
  });

  it("shows no amount with a single decimal in a column", () => {
    const markdown = "# T\n\n| Asset | Received |\n| --- | --- |\n| ETH | 5 |\n| USDC | 2810.5 |\n";
    expect(toMain(render(toReport({ markdown }))))
      .to.include(">5.00</td>")
      .and.include(">2,810.50</td>");
  });

  it("has a title of plain words, whatever breaks up a link in the markdown", () => {
    const page = parse(render(toReport({ markdown: "# A :&#8203;// b \\& `c`\n" })));
    expect(page.querySelector("title")?.textContent).to.equal("A :// b & c - payphone");
  });

  it("shows each picture once, under its heading, for broad and for narrow screens", () => {
    const page = render(toReport());
    expect(page.match(/class="own"/g)).to.have.length(1);
    expect(page).to.match(/<h2>Picture<\/h2>\s*<figure><div class="broad"><svg class="own".*<div class="narrow"><svg/);
    expect(page).not.to.include("<p></p>");
    const twice = toReport({ markdown: "# T\n\n## Picture\n\n## Picture\n" });
    expect(render(twice).match(/class="own"/g)).to.have.length(1);
  });

  it("names a picture by its words where there is none", () => {
    expect(toMain(render(toReport({ figures: [] })))).to.include("<p>Picture</p>");
  });

  it("names each table by its columns, for those who hear the page", () => {
    const page = parse(
      render(toReport({ markdown: "# T\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n| C |\n|---|\n| 1 |\n" })),
    );
    const names = [...page.querySelectorAll(".scroll")].map((table) => table.getAttribute("aria-label"));
    expect(names).to.deep.equal(["Table: A, B", "Table: C"]);
  });

  it("shows results, files with their hashes, and the proof", () => {
    const page = parse(render(toReport({ note: "Nothing stands out." })));
    expect(page.querySelector(".results .bad dd")?.textContent).to.equal("high");
    expect(page.querySelector(".meter")?.getAttribute("aria-label")).to.equal("75 of 100");
    expect(page.querySelector(".note")?.textContent).to.equal("Nothing stands out.");
    expect(page.querySelector(".files a")?.getAttribute("href")).to.equal("https://pay.test/reports/1/report.md");
    const terms = [...page.querySelectorAll(".proof dt")].map(({ textContent }) => textContent);
    expect(terms).to.deep.equal(["SHA-256 of report.md", "Signed by", "Anchored on Base", "Anchored on Solana"]);
    expect(page.querySelectorAll(".proof button")).to.have.length(3);
  });

  it("leads to no explorer from a sandbox, whose chains they do not know, and says that it is one", () => {
    const page = render(toReport(), { isSandbox: true });
    expect(toMain(page)).not.to.match(/basescan|solscan/);
    expect(page).to.include("<strong>Sandbox.</strong>");
  });

  it("leads nowhere from addresses where the rail names no page for them", () => {
    const rails = [{ network: "eip155:8453", explorer: "https://basescan.org/tx/{tx}" }] as never;
    const page = render(toReport(), {
      site: { title: "Shop", rails, contact: { name: "Me", url: "https://me.test" } } as never,
    });
    expect(toMain(page)).to.include(`<span title="${CHECKSUMMED}">`).and.not.include("/address/");
  });

  it("loads nothing but its own script, and holds its style", () => {
    const page = render(toReport());
    const loaded = [...page.matchAll(/(?:src|href)="((?!data:)[^"]+)"/g)].map(([whole]) => whole);
    expect(loaded.filter((each) => each.startsWith("src"))).to.deep.equal(['src="https://pay.test/docs/copy.js"']);
    expect(page).not.to.match(/<link rel="stylesheet"|@import|url\(|\son\w+=/);
  });

  it("lets nothing that its markdown says become markup", () => {
    const marks = fc.constantFrom(
      "<script>",
      "</main>",
      "<img src=x onerror=alert(1)>",
      "](javascript:x)",
      "![a](//e.test/x.png)",
      "<a href=x>",
      "`",
      "**",
      "| ",
      "\n",
      "\n\n",
      "# ",
      "- ",
      "> ",
      "&lt;b&gt;",
      "&#60;b&#62;",
      "&amp;lt;",
      '"',
      "'",
      "~~",
      "[x]: ",
      "1. ",
      "https://evil.test ",
      "<https://evil.test>",
      "    ",
      "```",
      "word ",
      "<!--",
      "<style>",
      "[^1]",
      "- [x] ",
    );
    const allowed = new Set(
      "h1 h2 h3 p strong em br code pre ul ol li blockquote div table thead tbody tr th td data span a button".split(
        " ",
      ),
    );
    fc.assert(
      fc.property(fc.array(marks, { maxLength: 25 }), (parts) => {
        const main = toMain(
          render(toReport({ markdown: `# T\n\n${parts.join("")}`, results: [], files: [], figures: [], proof: [] })),
        );
        const body =
          main.slice(main.indexOf("<h1>"), main.indexOf('<ul class="files"')) + main.slice(main.indexOf("</ul>") + 5);
        for (const [, name = ""] of body.slice(0, body.indexOf('<section class="proof"')).matchAll(/<\/?([a-z0-9]+)/gi))
          expect([...allowed], main).to.include(name);
        expect(body).not.to.match(/<a (?!href="https:\/\/(?:basescan|solscan))/);
      }),
      { numRuns: 300 },
    );
  });

  it("is made in time that grows with the report, whatever its markdown is", () => {
    for (const nasty of [
      "*".repeat(20_000),
      "[".repeat(20_000),
      "`".repeat(20_000),
      "> ".repeat(200),
      "| a ".repeat(5000),
      "_a".repeat(10_000),
    ]) {
      const before = process.threadCpuUsage(); // Other programs do not count.
      render(toReport({ markdown: `# T\n\n${nasty}` }));
      const { user, system } = process.threadCpuUsage(before);
      expect((user + system) / 1e6, nasty.slice(0, 4)).to.be.below(10);
    }
  });
});
