import { randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PaymentPayload } from "@x402/core/types";
import { digestOf } from "../../core/digest.ts";
import { isObject } from "../../core/json.ts";
import { makeFolder } from "../../drivers/folder.ts";

/** A payment that was signed for one call of a tool. */
export interface ToolPayment {
  readonly payment: PaymentPayload;
  /** Until when it is remembered: no earlier than the end of its authorization. Unix milliseconds. */
  readonly until: number;
}

/** A tool and its arguments. */
export interface LostCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
}

/**
 * The payments whose answers were lost, in files, so that they also outlive the proxy. All methods are synchronous:
 * the process may be about to end.
 */
export interface LostPayments {
  /** Takes the payment that was signed for this call; no other proxy gets it then. */
  take(call: LostCall): ToolPayment | undefined;
  keep(call: LostCall, signed: ToolPayment): void;
}

/** @param seller the URL of the MCP server that is paid */
export function createLostPayments(dir: string, seller: string, now: () => number): LostPayments {
  const fileOf = ({ name, arguments: given = {} }: LostCall): string =>
    join(dir, `lost-${digestOf([seller, name, given])}.json`);

  return {
    take(call) {
      const own = join(dir, `taken-${randomUUID()}.json`);
      try {
        renameSync(fileOf(call), own);
      } catch {
        return undefined; // There is none, or another proxy has taken it.
      }
      const signed = read(own);
      rmSync(own);
      return signed && signed.until >= now() ? signed : undefined;
    },
    keep(call, signed) {
      makeFolder(dir, 0o700);
      writeFileSync(fileOf(call), JSON.stringify(signed), { mode: 0o600 });
    },
  };
}

/** Undefined when the file was not written to its end. */
function read(file: string): ToolPayment | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(value) && isObject(value.payment) ? (value as unknown as ToolPayment) : undefined;
  } catch {
    return undefined;
  }
}
