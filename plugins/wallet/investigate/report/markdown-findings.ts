import type { Activity, Evidence, GraphNode, Screened } from "../evidence.ts";
import { type Transfer, toAmount } from "../sources/transfers.ts";
import { code, escapeMarkdown, toMarkdownTable, toMoment } from "./format.ts";

/** The section about sanctions and reputation. Every function here returns Markdown blocks without blank lines around them. */
export function aboutScreening({ screened }: Evidence): string[] {
  const { notes, corpus_version, signals } = screened;
  const rows = signals.map(({ severity, source, detail }) => [severity, source, escapeMarkdown(detail)]);
  return [
    "## Sanctions and reputation",
    `${escapeMarkdown(notes)} List: ${code(corpus_version)}.`,
    rows.length > 0 ? toMarkdownTable(["Severity", "Source", "Signal"], rows) : "",
  ];
}

/** The section about balances, age, volumes and the largest transfers. */
export function aboutHistory({ balances, activity, movements, investigatedAt }: Evidence): string[] {
  return [
    "## On-chain history",
    aboutBalances(balances),
    aboutAge(activity, investigatedAt),
    ...aboutMovements(movements),
  ];
}

function aboutBalances(balances: Evidence["balances"]): string {
  const rows = Object.entries(NAMES).flatMap(([key, name]) => {
    const amount = balances[key as keyof typeof NAMES];
    return amount === null ? [] : [[name, amount]];
  });
  return rows.length > 0 ? toMarkdownTable(["Balance", "Amount"], rows) : "No balance could be read.";
}

const NAMES = {
  base_eth: "ETH on Base",
  eth_eth: "ETH on Ethereum",
  base_usdc: "USDC on Base",
  sol: "SOL on Solana",
  solana_usdc: "USDC on Solana",
} as const;

function aboutAge({ has_history, base_tx_count, ...age }: Activity, investigatedAt: number): string {
  return [
    toAge(age, investigatedAt),
    has_history === false ? toUnused(base_tx_count) : "",
    base_tx_count === null ? "" : `Transactions sent on Base: ${base_tx_count}.`,
  ]
    .filter((sentence) => sentence !== "")
    .join(" ");
}

/** Only these chains were asked. The count is null for a Solana wallet, and known for an EVM one without a history. */
const toUnused = (base_tx_count: number | null): string =>
  base_tx_count === null
    ? "The Solana node knows no transaction that names it."
    : "It has sent no transaction on Base or Ethereum.";

/** An age is exact only where the history was read to its beginning. */
function toAge(
  { firstSeenAt, seenSince }: Pick<Activity, "firstSeenAt" | "seenSince">,
  investigatedAt: number,
): string {
  const days = (since: number): string => `${Math.max(0, Math.floor((investigatedAt - since) / 86_400))} days`;
  if (firstSeenAt !== null) return `First seen on ${toMoment(firstSeenAt)}, ${days(firstSeenAt)} ago.`;
  if (seenSince === null) return "When it was first active is not known.";
  return `At least ${days(seenSince)} old: seen on ${toMoment(seenSince)}, and earlier history was not read.`;
}

function aboutMovements(movements: Evidence["movements"]): string[] {
  const { volumes, senders, recipients, firstAt, lastAt, largest } = movements;
  const rows = volumes.map(({ asset, received, receivedCount, sent, sentCount }) => [
    asset,
    received,
    String(receivedCount),
    sent,
    String(sentCount),
  ]);
  const span = firstAt === null || lastAt === null ? "" : ` between ${toMoment(firstAt)} and ${toMoment(lastAt)}`;
  return [
    rows.length > 0
      ? toMarkdownTable(["Asset", "Received", "Transfers in", "Sent", "Transfers out"], rows)
      : "Nothing that moved was found.",
    rows.length > 0 ? `From ${senders} and to ${recipients} different addresses${span}.` : "",
    largest.length > 0 ? "### Largest transfers" : "",
    largest.length > 0 ? toMarkdownTable(["When", "Amount", "From", "To", "Transaction"], largest.map(toRow)) : "",
  ];
}

const toRow = ({ at, units, asset, from, to, tx }: Transfer): string[] => [
  toMoment(at),
  `${toAmount(BigInt(units), asset)} ${asset}`,
  code(from),
  code(to),
  code(tx),
];

/** The section about names, the first funder, and addresses of the same owner. */
export function aboutIdentity({ identity }: Evidence): string[] {
  const { ensName, snsName, labels, funding, links } = identity;
  const names = [
    ...(ensName === null ? [] : [`ENS: ${escapeMarkdown(ensName)} (verified both ways)`]),
    ...(snsName === null ? [] : [`SNS: ${escapeMarkdown(snsName)} (verified both ways)`]),
    ...labels.map((label) => `The explorer calls it: ${escapeMarkdown(label)}`),
    ...(funding === null
      ? []
      : [`First funded by ${code(funding.from)}: ${toRow(funding)[1]} on ${toMoment(funding.at)}`]),
  ];
  const rows = links.map(({ address, reason, screened }) => [code(address), REASONS[reason], toLevel(screened)]);
  return [
    "## Identity",
    names.length > 0 ? names.map((line) => `- ${line}`).join("\n") : "Neither a name nor a first funder is known.",
    rows.length > 0 ? toMarkdownTable(["Linked address", "How", "Risk"], rows) : "",
  ];
}

const REASONS = {
  "ens-record": "its ENS name gives this address, too",
  "shared-funding": "was first funded by the same address",
} as const;

/** The direct counterparties, and the flagged addresses two hops away. */
export function aboutGraph({ graph, subject }: Evidence): string[] {
  const first = graph.nodes.filter(({ hop }) => hop === 1);
  const second = graph.nodes.filter(({ hop }) => hop === 2);
  const flagged = second.filter(({ screened }) => screened !== null && screened.signals.length > 0);
  const sum = (address: string, direction: "from" | "to"): string =>
    graph.flows
      .filter(({ from, to }) =>
        direction === "from" ? from === address && to === subject.address : to === address && from === subject.address,
      )
      .map(({ amount, asset }) => `${amount} ${asset}`)
      .join(", ");
  const rows = first.map((node) => [...toParty(node), sum(node.address, "from"), sum(node.address, "to")]);
  return [
    first.length > 0
      ? `${first.length} of ${graph.counterparties} direct counterparties, and ${second.length} addresses behind them.`
      : "No direct counterparties are known.",
    rows.length > 0 ? toMarkdownTable(["Counterparty", "Label", "Risk", "Paid the subject", "Was paid"], rows) : "",
    flagged.length > 0
      ? `Two hops away:\n\n${toMarkdownTable(["Address", "Label", "Risk"], flagged.map(toParty))}`
      : "",
    aboutScreenings(graph.nodes),
  ];
}

const toParty = ({ address, label, screened }: GraphNode): string[] => [
  code(address),
  escapeMarkdown(label ?? ""),
  toLevel(screened),
];

function toLevel(screened: Screened | null): string {
  if (!screened) return "not screened";
  const words = screened.labels.length > 0 ? `: ${escapeMarkdown(screened.labels.join(", "))}` : "";
  return `${screened.risk_level}${words}`;
}

function aboutScreenings(nodes: readonly GraphNode[]): string {
  const screened = nodes.filter((node) => node.screened !== null);
  const whole = screened.filter((node) => node.screened?.partial === false);
  return `Screened by the sanctions list: ${screened.length} of ${nodes.length} nodes; by reputation, too: ${whole.length}.`;
}
