import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PaymentPayload } from "@x402/core/types";
import { digestOf } from "../../core/digest.ts";
import { isObject, tryParseJson } from "../../core/json.ts";
import { makeFolder } from "../../drivers/folder.ts";
import { unnoted } from "./budget.ts";

/** A payment that was signed for one call of a tool. */
export interface ToolPayment {
  readonly payment: PaymentPayload;
  /** Until when it is remembered: no earlier than the end of its authorization. Unix milliseconds. */
  readonly until: number;
  /** What the seller says of a call without a payment; files of earlier versions do not have it. */
  readonly unpaid?: string | undefined;
}

/** A tool and its arguments. */
export interface LostCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/** A payment that is being sent. */
export interface SentPayment extends Pick<ToolPayment, "payment" | "unpaid"> {
  /** Its outcome is known, and told: it is forgotten. */
  answered(): void;
  /** Its outcome is unknown, or its caller has left: the next call that it was signed for sends it again. */
  lost(): void;
}

/** Payments in files from before they are sent until their outcome is known, so that they outlive the proxy. */
export interface LostPayments {
  /**
   * Claims a payment for this call that no process is sending, or whose caller here has left; no other proxy gets it then.
   * @param signal aborted when the caller leaves
   */
  take(call: LostCall, signal: AbortSignal): SentPayment | undefined;
  /** Writes a payment before it is sent. @throws Problem `unavailable` when it cannot be written. */
  keep(call: LostCall, signed: ToolPayment, signal: AbortSignal): SentPayment;
}

interface Kept extends ToolPayment {
  /** The process that sends it; 0 when none does. */
  readonly pid: number;
  /** When that process began, as `beganOf` says; files of earlier versions do not have it. */
  readonly began?: string;
}

/** @param seller the URL of the MCP server that is paid */
export function createLostPayments(dir: string, seller: string, now: () => number): LostPayments {
  /** The files of payments that are being sent, with the signals of their callers. */
  const sending = new Map<string, AbortSignal>();
  const prefixOf = ({ name, arguments: given = {} }: LostCall): string => `payment-${digestOf([seller, name, given])}-`;
  const newFile = (call: LostCall): string => join(dir, `${prefixOf(call)}${randomUUID()}.json`);
  const isSent = (file: string, kept: Kept): boolean =>
    kept.pid === process.pid ? sending.get(file)?.aborted === false : isAlive(kept);

  const asOurs = (signed: ToolPayment): Kept => ({ ...signed, pid: process.pid, began: beganOf(process.pid) });

  function send(file: string, signed: ToolPayment, signal: AbortSignal): SentPayment {
    sending.set(file, signal);
    return {
      payment: signed.payment,
      unpaid: signed.unpaid,
      answered() {
        if (tried(() => rmSync(file, { force: true }))) sending.delete(file); // One that stays is not to be sent again.
      },
      lost() {
        if (sending.delete(file)) tried(() => write(file, { ...signed, pid: 0 })); // What was kept before will do.
      },
    };
  }

  return {
    take(call, signal) {
      for (const file of list(dir, prefixOf(call))) {
        const kept = read(file);
        if (kept && isSent(file, kept)) continue;
        const own = newFile(call);
        if (!tried(() => renameSync(file, own))) continue; // Another proxy has taken it.
        sending.delete(file);
        if (kept && kept.until >= now()) {
          const { payment, until, unpaid } = kept;
          tried(() => write(own, asOurs({ payment, until, unpaid })));
          return send(own, { payment, until, unpaid }, signal);
        }
        tried(() => rmSync(own));
      }
      return undefined;
    },
    keep(call, signed, signal) {
      try {
        makeFolder(dir, 0o700);
        sweep(dir, now());
        const file = newFile(call);
        write(file, asOurs(signed));
        return send(file, signed, signal);
      } catch (error) {
        throw unnoted(dir, error as NodeJS.ErrnoException);
      }
    },
  };
}

function write(file: string, kept: Kept): void {
  writeFileSync(`${file}.part`, JSON.stringify(kept), { mode: 0o600 });
  renameSync(`${file}.part`, file);
}

/** Undefined when the file is there no more. */
function read(file: string): Kept | undefined {
  const value = tryParseJson(tryToRead(file));
  return isObject(value) && isObject(value.payment) ? (value as unknown as Kept) : undefined;
}

function tryToRead(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function list(dir: string, prefix: string): readonly string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.startsWith(prefix) && name.endsWith(".json"))
      .map((name) => join(dir, name));
  } catch {
    return []; // Nothing was kept yet.
  }
}

/** Longer than any payment can be used: `openPayer` signs for a day at most. */
const USELESS_MS = 2 * 24 * 60 * 60_000;

/** Deletes what is left of payments that are of no use any more, such as those whose call was never repeated. */
function sweep(dir: string, now: number): void {
  for (const name of readdirSync(dir).filter((one) => /^payment-.*\.json(?:\.part)?$/.test(one)))
    tried(() => {
      const file = join(dir, name);
      if (now - statSync(file).mtimeMs > USELESS_MS) rmSync(file, { force: true });
    });
}

/** Whether the folder takes a change. A payment that was sent is told of all the same. */
function tried(change: () => void): boolean {
  try {
    change();
    return true;
  } catch {
    return false;
  }
}

function isAlive({ pid, began = "" }: Kept): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false; // EPERM: another user's process.
  }
  return [began, beganOf(pid)].includes("") || began === beganOf(pid); // Another process may have the id by now.
}

/** When a process began, in clock ticks since the boot (field 22 of `/proc/<pid>/stat`); empty where that is unknown. */
const beganOf = (pid: number): string => tryToRead(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[19] ?? "";
