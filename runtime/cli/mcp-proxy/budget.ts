import { randomUUID } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { toAtomic, toDecimal } from "../../core/set/price.ts";
import { makeFolder } from "../../drivers/folder.ts";
import { refuseToPay } from "../call/offers.ts";
import type { Env } from "../config/reader.ts";

/** The spending limits, in decimal dollars. */
export interface BudgetLimits {
  readonly perCall: string;
  /** For one UTC day, over all proxies of this user that share the folder. */
  readonly perDay: string;
}

export interface DailyBudget {
  /**
   * Counts a payment before it is signed. A signed one stays counted, because only the seller knows whether it takes it.
   * @param usd in units of 10^-18 dollars
   * @returns takes the payment back when it could not be signed
   * @throws Problem `payment-required` when it would exceed a limit; `unavailable` when it cannot be noted.
   */
  spend(usd: bigint, what: string): Promise<() => Promise<void>>;
}

const SCALE = 18;

/** The default folder of the daily payment files. An empty HOME would make it one of the current folder. */
export const defaultSpendingDir = ({ XDG_STATE_HOME }: Env): string =>
  join(XDG_STATE_HOME || join(homedir() || userInfo().homedir, ".local/state"), "payphone/spending");

/**
 * Notes payments in one file a day. Each line is appended before the file is read, and counts if it fits the limit beside
 * those before it that count. So all proxies agree: two together never overspend, and what is refused takes nothing.
 */
export function createDailyBudget(dir: string, { perCall, perDay }: BudgetLimits, now: () => number): DailyBudget {
  return {
    async spend(usd, what) {
      const cost = toDecimal(usd, SCALE);
      if (usd > toAtomic(perCall, SCALE))
        refuseToPay(`this call costs ${cost} USD, more than the ${perCall} that --max-usd-per-call allows`);
      const at = new Date(now()).toISOString();
      const file = join(dir, `${at.slice(0, 10)}.jsonl`);
      const id = randomUUID();
      const note = (line: object): Promise<void> => appendFile(file, `\n${JSON.stringify(line)}\n`, { mode: 0o600 });
      try {
        makeFolder(dir, 0o700);
        await note({ id, at, usd: cost, most: perDay, what });
      } catch (error) {
        throw unnoted(dir, error as NodeJS.ErrnoException);
      }
      const { spent, counts } = await sumUpTo(file, id);
      if (counts) return () => note({ id, at, usd: `-${cost}`, what: "not signed" });
      const before = toDecimal(spent, SCALE);
      refuseToPay(
        `this call costs ${cost} USD; ${before} of the ${perDay} that --max-usd-per-day allows are spent today (UTC)`,
      );
    },
  };
}

/** The sum up to the line with this id, and whether this line counts. @throws Problem `unavailable` for an unreadable line. */
async function sumUpTo(file: string, id: string): Promise<{ readonly spent: bigint; readonly counts: boolean }> {
  let spent = 0n;
  for (const text of (await readFile(file, "utf8")).split("\n")) {
    if (isPiece(text)) continue;
    const line = read(text, file);
    const counts = line.most === undefined || spent + line.usd <= line.most;
    if (counts) spent += line.usd;
    if (line.id === id) return { spent, counts };
  }
  throw unreadable(file);
}

interface Line {
  readonly id: string;
  /** Negative when it takes back a payment that could not be signed. */
  readonly usd: bigint;
  /** The day's limit of the proxy that spends; a line without one counts in any case. */
  readonly most?: bigint;
}

/** Nothing, or what a full disk has left of a line, whose payment was not made then. The next line begins by itself. */
const isPiece = (text: string): boolean =>
  BEGINNING.startsWith(text) || (text.startsWith(BEGINNING) && !text.endsWith("}"));
const BEGINNING = '{"id":"';

function read(text: string, file: string): Line {
  try {
    const { id, usd, most } = JSON.parse(text) as Record<"id" | "usd", string> & { most?: string }; // Written by this module.
    const sum = usd.startsWith("-") ? -toAtomic(usd.slice(1), SCALE) : toAtomic(usd, SCALE);
    return { id, usd: sum, ...(most !== undefined && { most: toAtomic(most, SCALE) }) };
  } catch {
    throw unreadable(file);
  }
}

const unreadable = (file: string): Problem =>
  new Problem("unavailable", `${file} cannot be read: what was spent today is not known. Nothing was paid.`);

/** For a payment that is not sent, since the folder takes no note of it. */
export const unnoted = (dir: string, cause: NodeJS.ErrnoException): Problem =>
  new Problem(
    "unavailable",
    `The payments of the day cannot be noted in ${dir} (${cause.code}): name another folder with --spending. Nothing was paid.`,
    { cause },
  );
