import { setImmediate } from "node:timers/promises";
import { stringify } from "csv-stringify/sync";
import type { Entry } from "../account.ts";
import type { ToChecksum } from "../checksums.ts";
import { toIso } from "../period.ts";
import { toUsdc } from "../usdc.ts";

const COLUMNS = "time direction category service_id label from to usdc transaction block log_index".split(" ");

/** After this many rows the event loop gets a turn. */
const ROWS_AT_ONCE = 1000;

/**
 * One line per transfer (RFC 4180 with `\n`), in chain order. Text that a spreadsheet would run as a formula gets an
 * apostrophe. @param wallet in lower case.
 */
export async function toCsv(entries: readonly Entry[], wallet: string, toChecksum: ToChecksum): Promise<string> {
  let text = stringify([COLUMNS]);
  for (let at = 0; at < entries.length; at += ROWS_AT_ONCE) {
    const rows = entries.slice(at, at + ROWS_AT_ONCE).map((entry) => toRow(entry, wallet, toChecksum));
    text += stringify(rows, { escape_formulas: true });
    await setImmediate();
  }
  return text;
}

function toRow(entry: Entry, wallet: string, toChecksum: ToChecksum): string[] {
  const { at, from, to, amount, tx, block, index, category, service } = entry;
  return [
    toIso(at),
    from === wallet ? "outbound" : "inbound",
    category,
    service?.id ?? "",
    service?.label ?? "",
    toChecksum(from),
    toChecksum(to),
    toUsdc(amount),
    tx,
    String(block),
    String(index),
  ];
}
