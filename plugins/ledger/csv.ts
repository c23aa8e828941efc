import { stringify } from "csv-stringify/sync";
import type { Entry } from "./account.ts";
import { toIso } from "./period.ts";
import { toUsdc } from "./usdc.ts";

const COLUMNS = [
  ...["time", "direction", "category", "service_id", "label", "from", "to", "usdc"],
  ...["transaction", "block", "log_index"],
];

/**
 * One line for each transfer (RFC 4180 with `\n`), in the order of the chain. A text that a spreadsheet would take for a
 * formula gets an apostrophe. @param wallet in lower case.
 */
export function toCsv(entries: readonly Entry[], wallet: string, toChecksum: (address: string) => string): string {
  const rows = entries.map((entry) => {
    const { at, from, to, amount, tx, block, index, category, service } = entry;
    return [
      ...[toIso(at), from === wallet ? "outbound" : "inbound", category, service?.id ?? "", service?.label ?? ""],
      ...[toChecksum(from), toChecksum(to), toUsdc(amount), tx, String(block), String(index)],
    ];
  });
  return stringify([COLUMNS, ...rows], { escape_formulas: true });
}
