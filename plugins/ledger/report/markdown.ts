import type { Group } from "../groups.ts";
import type { Grouping } from "../request.ts";
import type { Summary } from "../summary.ts";
import { sum, toAtomicUsdc, toUsdc } from "../usdc.ts";

/** The head of a report, besides its summary. */
export interface Heading {
  readonly title: string | null;
  readonly preparedFor: string | null;
  readonly groupBy: Grouping;
  /** Decimal text. */
  readonly leastUsdc: string;
  readonly withOthers: boolean;
  readonly registryVersion: string;
  readonly specVersion: string;
  /** Undefined when no CSV was made. */
  readonly csvSha256: string | undefined;
}

/** Further groups (the smallest, or the latest days) are summed up in one line. */
const MOST_GROUPS = 500;

/** The report as GitHub-flavoured markdown; the same bytes for the same summary and heading. */
export function toLedgerMarkdown(summary: Summary, heading: Heading): string {
  const { title, preparedFor, groupBy } = heading;
  const { groups, daily, granularity } = summary;
  return [
    `# ${toPlain(title ?? TITLES[summary.direction])}`,
    ...(preparedFor === null ? [] : [`Prepared for ${toPlain(preparedFor)}`]),
    toTable(["About", "This report"], toFacts(summary, heading)),
    "## Totals",
    toTable(["Total", "Value"], toTotals(summary)),
    `## By ${groupBy}`,
    groups.length === 0 ? "No transfers." : toTable(GROUP_COLUMNS, groups.slice(0, MOST_GROUPS).map(toRow)),
    ...toRest(groups.slice(MOST_GROUPS)),
    `## ${toDailyTitle(granularity)}`,
    toTable(
      [granularity === "day" ? "Day" : "Week of", "USDC", "Transfers"],
      daily.map(({ date, usdc, tx_count }) => [date, usdc, String(tx_count)]),
    ),
    "## How it was made",
    METHOD,
    "",
  ].join("\n\n");
}

/** The heading of the series. */
export const toDailyTitle = (granularity: Summary["granularity"]): string => `By ${granularity}`;

const TITLES = {
  outbound: "Spend report",
  inbound: "Revenue report",
  both: "Spend and revenue report",
} as const;

const METHOD = [
  "Every amount is a sum of USDC Transfer events of the wallet on Base (chain 8453); transfers of nothing and from the wallet to itself are left out.",
  "A transfer counts as x402 when the registry lists its recipient as a service, or else when the payer authorized it by a signature (EIP-3009: the token's AuthorizationUsed event stands right before it).",
  "Times are those of blocks, in UTC. The same wallet, range, options and registry give the same bytes.",
].join(" ");

/** Escapes untrusted text: one line, no markup. */
const toPlain = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim()
    .replace(/[\\`*_[\]<>|~&#:@]|(?<=www)\./gi, "\\$&");

type Row = readonly string[];

const toTable = (columns: Row, rows: readonly Row[]): string =>
  [columns, columns.map((column) => (NUMBERS.has(column) ? "--:" : "---")), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

const NUMBERS: ReadonlySet<string> = new Set(["USDC", "Transfers", "Mean", "Value"]);

function toFacts({ wallet, range, direction }: Summary, heading: Heading): Row[] {
  const { leastUsdc, withOthers, registryVersion, specVersion, csvSha256 } = heading;
  const blocks = range.from_block === null ? "none" : `${range.from_block} to ${range.to_block}`;
  return [
    ["Wallet", `\`${wallet}\` on Base`],
    ["Range", `${range.from} to ${range.to}`],
    ["Blocks", blocks],
    ["Direction", direction],
    ["Transfers", `${withOthers ? "all" : "x402 payments"}${leastUsdc === "0" ? "" : `, from ${leastUsdc} USDC`}`],
    ["Registry", toPlain(registryVersion)],
    ["Specification", specVersion],
    ...(csvSha256 === undefined ? [] : [["SHA-256 of the CSV", `\`${csvSha256}\``]]),
  ];
}

function toTotals({ totals }: Summary): Row[] {
  const { usdc, usdc_outbound, usdc_inbound, tx_count, unique_recipients, identified_pct } = totals;
  return [
    ["USDC", usdc],
    ...(usdc_outbound === undefined ? [] : [["USDC outbound", usdc_outbound]]),
    ...(usdc_inbound === undefined ? [] : [["USDC inbound", usdc_inbound]]),
    ["Transfers", String(tx_count)],
    ["Recipients", String(unique_recipients)],
    ["Identified by the registry", `${identified_pct} %`],
  ];
}

const GROUP_COLUMNS = ["Label", "USDC", "Transfers", "Mean", "First", "Last", "Category", "Recipient"];

const toRow = ({ label, recipient, category, ...group }: Group): Row => [
  label === recipient ? "unlisted" : toPlain(label),
  group.usdc,
  String(group.tx_count),
  group.avg_call_price,
  toDay(group.first_at),
  toDay(group.last_at),
  toPlain(category),
  recipient === null ? "several" : `\`${recipient}\``,
];

const toDay = (iso: string): string => iso.slice(0, "2026-11-21".length);

function toRest(groups: readonly Group[]): string[] {
  if (groups.length === 0) return [];
  const total = sum(groups.map(({ usdc }) => toAtomicUsdc(usdc) ?? 0n));
  return [`${groups.length} further groups come to ${toUsdc(total)} USDC together.`];
}
