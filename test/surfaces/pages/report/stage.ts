import type { ReportPage } from "../../../../runtime/api/reports.ts";
import { loadAssets } from "../../../../runtime/cli/serve/assets.ts";
import { createToReportPage } from "../../../../runtime/surfaces/pages/report/report-page.ts";
import { PAGES } from "../../../plugins/host.ts";

export const ADDRESS = "0xd8da6bf26964af9d7eed9e03e53415d37aa96045";
/** The same as EIP-55 writes it. */
export const CHECKSUMMED = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
export const TX = `0x${"4b".repeat(32)}`;
export const SOLANA_ADDRESS = "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA";

/** A report of all that a page can show. */
const MARKDOWN = `# Report about \`${ADDRESS}\`

**Bold** and *soft* words.

| Who | Label | Amount | Paid | Transaction |
| --- | --- | --- | --- | --- |
| \`${ADDRESS}\` | one | 1234.567891 USDC | 0.001 | \`${TX}\` |
| \`${SOLANA_ADDRESS}\` | two | 0.5 ETH, 2 USDC | 12.5 | \`${TX}\` |

## Picture

![Picture][graph]

- a list with \`bad_reputation\`

[graph]: data:image/svg+xml;base64,AAAA
`;

export const toReport = (changes: Partial<ReportPage> = {}): ReportPage => ({
  markdown: MARKDOWN,
  results: [
    { label: "Verdict", value: "high", tone: "bad" },
    { label: "Score", value: "75", tone: "bad", meter: 75 },
    { label: "Moved", value: "1234.567891 USDC" },
    { label: "As of", value: "2026-11-23" },
  ],
  files: [{ name: "report.md", url: "https://pay.test/reports/1/report.md", sha256: "a".repeat(64) }],
  figures: [
    {
      under: "Picture",
      svg: '<svg class="own" viewBox="0 0 9 9"></svg>',
      narrow: '<svg class="small" viewBox="0 0 3 9"></svg>',
    },
  ],
  proof: [
    { term: "Signed by", value: ADDRESS },
    { term: "Anchored on Base", value: TX, url: `https://basescan.org/tx/${TX}` },
    { term: "Anchored on Solana", value: "not anchored" },
  ],
  ...changes,
});

const assets = await loadAssets();

export const render = (page: ReportPage, options: Partial<typeof PAGES> = {}): string =>
  createToReportPage({ ...PAGES, ...options, assets })(page);

/** The page between its head and its foot. */
export const toMain = (page: string): string => page.slice(page.indexOf("<main>"), page.indexOf("</main>"));
