/** The texts of `payphone call`. Control characters from a seller are never printed. */
import { styleText } from "node:util";
import type { PaymentRequired, PaymentRequirements, SettleResponse } from "@x402/core/types";
import { toColumns } from "../columns.ts";
import { printable, printableLines, toPrintableJson } from "../printable.ts";
import { field, type SellerResponse, textField } from "./http.ts";
import { type Offer, refusalOf } from "./offers.ts";
import type { Kept, PaymentNote, Pending } from "./pending.ts";

type Style = Parameters<typeof styleText>[0];

/** Styled when standard error is a terminal with colours. */
const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stderr });

/** A result: its JSON, or else its text. */
export const toShownResult = (json: unknown, text: string): string =>
  json === undefined ? printableLines(text) : toPrintableJson(json);

/** As many offers are printed; a seller may send any number. */
const MOST_OFFERS = 20;

/** The challenge: the description of what is sold, and one line for each offer, those that can be paid first. */
export function toChallengeText(
  { resource }: PaymentRequired,
  { offers, others }: { offers: readonly Offer[]; others: readonly PaymentRequirements[] },
): string {
  const rows = offers.map(({ rail, amount, requirements }) => [
    rail.id,
    `${amount} ${rail.symbol}`,
    rail.title,
    printable(requirements.payTo),
  ]);
  const unknown = others.map(({ scheme, network, asset, amount, payTo, extra }) => {
    const how = [scheme, textField(extra, "assetTransferMethod")].filter(Boolean).join(" ");
    return ["-", `${amount} atomic units`, `${how}, ${network} ${asset}`, payTo].map(printable);
  });
  const what = printable(resource?.description ?? "");
  const title = `${paint("bold", "402 Payment required")}${what && `: ${what}`}`;
  const shown = [...rows, ...unknown].slice(0, MOST_OFFERS);
  const more = rows.length + unknown.length - shown.length;
  const rest = more > 0 ? [`  and ${more} more`] : [];
  return [title, "", ...toTable(["rail", "price", "", "pay to"], shown), ...rest, ""].join("\n");
}

function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const [first = "", ...lines] = toColumns([head, ...rows]).map((line) => `  ${line}`);
  return [paint("dim", first), ...lines];
}

/** Printed before a payment is sent. @param isOwnName whether the buyer has named the purchase, perhaps an earlier one */
export function toPayingText(note: PaymentNote, payTo: string, isOwnName: boolean): string {
  const { amount, symbol, title, payer, wallet, identifier } = note;
  const whose = wallet === "sandbox" ? "the sandbox's buyer: no real money" : "your wallet";
  const again = isOwnName ? "; a seller that keeps names does not charge it again with this wallet" : "";
  const name = identifier === undefined ? "" : `, as ${identifier}${again}`;
  return `Paying ${paint("bold", `${amount} ${symbol}`)} (${title}) from ${payer} (${whose}) to ${printable(payTo)}${name}`;
}

/** The receipt. Facts that the seller did not report are omitted. @param isOwnName as above */
export function toReceiptText(
  pending: Pending,
  receipt: Partial<SettleResponse> | undefined,
  { ms, isOwnName }: { readonly ms: number; readonly isOwnName: boolean },
): string {
  const { amount, symbol, title, payer, wallet } = pending.note;
  const isElsewhere = isOfOtherNetwork(pending, receipt);
  const { transaction } = receipt ?? {};
  const lines: [string, string | undefined][] = [
    ["paid", isElsewhere ? (isOwnName ? EARLIER : NOT_KNOWN) : `${amount} ${symbol}${isOwnName ? OR_BEFORE : ""}`],
    ["network", [!isElsewhere && title, receipt?.network].filter(Boolean).join(", ")],
    ["payer", receipt?.payer ?? payer],
    ["transaction", transaction || "the seller sent no receipt"],
    ["explorer", toLink(pending, receipt)],
    [
      "",
      transaction && wallet === "sandbox"
        ? "(a sandbox's transaction: the public explorer does not know it)"
        : undefined,
    ],
    ["time", `${Math.round(ms)} ms`],
  ];
  const rows = lines.flatMap(([name, value]) =>
    value ? [`  ${paint("dim", name.padEnd(11))}  ${printable(value)}`] : [],
  );
  return [paint(["bold", "green"], "Receipt"), ...rows].join("\n");
}

const EARLIER = "nothing now, by this receipt of an earlier payment on another network";
const OR_BEFORE = ", or what was paid before under this name";
const NOT_KNOWN = "not known: the receipt names another network than the payment";

/** Printed instead of a receipt when none came, or one of a failure. @param isOwnName as above */
export const toUnpaidText = (receipt: unknown, isOwnName: boolean): string => {
  const earlier = isOwnName ? " now; an earlier payment under this name may have been taken" : "";
  return `${receipt ? "The receipt is of a failure" : "No receipt came"}: by the seller's account, nothing was paid${earlier}.`;
};

/** Printed before the payment of a purchase for which another one was signed under the same name. */
export const toKeptText = ({ file, isUsable }: Kept): string =>
  isUsable
    ? `The payment that was signed under this name is sent again (${file}).`
    : `The payment that was signed under this name can be used no more (${file}). It may have been taken: a seller that keeps no names charges a new one as well.`;

/** Printed when a payment is kept that brought no result. */
export const TAKEN_PERHAPS =
  "The payment may have been taken when it was sent before: look into your wallet before you pay anew.";

/** How to ask again without the payment's file: with another wallet, as on Solana, the seller would not find it. */
export const toResumeText = ({ rail, identifier }: PaymentNote): string =>
  printable(
    `Or, without that file, repeat the command with --rail ${rail} --resume ${identifier} (a seller that keeps no names charges again)`,
  );

/** Printed for a job whose status is at another server. */
export const toUnfollowedText = (url: string): string =>
  printable(`Not followed: ${url} is at another address than the call`);

/** Whether an identifier has found a purchase that was paid on another network. */
const isOfOtherNetwork = ({ network }: Pending, receipt: Partial<SettleResponse> | undefined): boolean =>
  network !== undefined && receipt?.network !== undefined && receipt.network !== network;

/** The URL of the transaction in the rail's block explorer. */
export const toLink = (pending: Pending, receipt: Partial<SettleResponse> | undefined): string | undefined =>
  receipt?.transaction && !isOfOtherNetwork(pending, receipt)
    ? pending.note.explorer.replace("{tx}", encodeURIComponent(receipt.transaction))
    : undefined;

/** Explains an answer that is not a result: one line for each fault of the input, or the problem's title and detail. */
export function toFailureText(answer: SellerResponse, receipt?: SettleResponse): string {
  const { status, headers, json } = answer;
  const issues = field(json, "detail");
  const lines = Array.isArray(issues)
    ? [`${status} The input was refused:`, ...toIssueLines(issues)]
    : [`${status} ${toReason(answer)}`];
  const id = textField(json, "request_id") ?? headers.get("x-request-id");
  const location = headers.get("location");
  const reason = textField(receipt, "errorReason") ?? (status === 402 ? textField(json, "details") : undefined);
  if (reason) lines.push(`Settlement: ${reason}`);
  if (location) lines.push(`It points to ${location}, which was not followed.`);
  if (id) lines.push(`Request id: ${id}`);
  return lines.map(printable).join("\n");
}

/** One line for each fault of an input: its path, and how to correct it. */
export const toIssueLines = (issues: readonly unknown[]): string[] =>
  issues.map((one) => printable(`  ${toPath(field(one, "loc"))}: ${textField(one, "msg") ?? "it is refused"}`));

function toReason(answer: SellerResponse): string {
  if (answer.status === 402) return `The payment was refused: ${refusalOf(answer) ?? "the seller does not say why"}`;
  const { json, text } = answer;
  const said = new Set([textField(json, "title"), textField(json, "detail") ?? textField(json, "error")]);
  return [...said].filter(Boolean).join(": ") || text.slice(0, 500) || "without a word";
}

/** Other parts than names and numbers are left out. */
const toPath = (loc: unknown): string =>
  Array.isArray(loc) ? loc.filter((part) => ["string", "number"].includes(typeof part)).join(".") : "input";
