import { randomUUID } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { field, type SellerRequest, textField } from "./http.ts";

/** The facts of a payment that are printed besides the seller's answer. */
export interface PaymentNote {
  readonly rail: string;
  readonly title: string;
  /** Decimal text. */
  readonly amount: string;
  readonly symbol: string;
  readonly payer: string;
  /** A URL with `{tx}` in it. */
  readonly explorer: string;
  readonly wallet: "sandbox" | "environment";
  /** The purchase's name, when the seller accepts one (x402 extension `payment-identifier`). */
  readonly identifier?: string;
}

/** A payment signed for one request. Sending it again gives the same answer and is charged once. */
export interface Pending {
  readonly request: SellerRequest;
  /** The value of PAYMENT-SIGNATURE. */
  readonly payment: string;
  /** CAIP-2; absent in older files. */
  readonly network?: string;
  /** Until when the seller can use it, in Unix milliseconds; absent in older files. */
  readonly until?: number;
  readonly note: PaymentNote;
}

/** Writes a payment to a file that only the user can read, and gives its path. @throws Problem `unavailable`. */
export async function keepPending(pending: Pending): Promise<string> {
  const file = join(tmpdir(), `payphone-${randomUUID()}.json`);
  try {
    await writeFile(file, JSON.stringify(pending, null, 2), { mode: 0o600, flag: "wx" });
    return file;
  } catch (cause) {
    await dropPending(file); // It may be there in part.
    throw toUnkept(cause as NodeJS.ErrnoException);
  }
}

const toUnkept = (cause: NodeJS.ErrnoException): Problem =>
  new Problem(
    "unavailable",
    `the payment cannot be kept in ${tmpdir()} (${cause.code}), and was not sent: name another folder in TMPDIR. Nothing was paid.`,
    { cause },
  );

/** Deletes the file of a payment. One that cannot be deleted stays: what was paid for must be shown all the same. */
export const dropPending = (file: string): Promise<void> => rm(file, { force: true }).catch(() => {});

/** A payment that is kept, and whether its seller can still use it. */
export interface Kept {
  readonly file: string;
  readonly isUsable: boolean;
}

/**
 * The payment that was signed for this request under this name: one that can still be used, where there is one. A seller that
 * keeps no names would charge another one.
 */
export async function findPending(identifier: string, { method, url, body }: SellerRequest): Promise<Kept | undefined> {
  const files = await readdir(tmpdir(), { withFileTypes: true }).catch(() => []);
  let over: Kept | undefined;
  for (const one of files.filter((entry) => entry.isFile() && /^payphone-[\da-f-]{36}\.json$/.test(entry.name))) {
    const file = join(one.parentPath, one.name);
    const pending = (await isOwn(file)) ? await loadPending(file).catch(() => undefined) : undefined;
    const { request, note, until = 0 } = pending ?? {};
    const isFor = request?.method === method && request.url === url && request.body === body;
    if (!isFor || note?.identifier !== identifier) continue;
    if (until > Date.now()) return { file, isUsable: true };
    over = { file, isUsable: false };
  }
  return over;
}

/** Any user may put a file there, and let others read it. */
const isOwn = (file: string): Promise<boolean> =>
  stat(file).then(
    ({ uid }) => process.getuid === undefined || uid === process.getuid(),
    () => false, // It is gone.
  );

/** @throws Problem `bad-request` when the file holds no payment. */
export async function loadPending(file: string): Promise<Pending> {
  let pending: unknown;
  try {
    pending = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new Problem("bad-request", `--resume cannot read ${file} (${(error as Error).message})`);
  }
  const request = field(pending, "request");
  const isWhole =
    URL.canParse(textField(request, "url") ?? "") && textField(request, "method") && textField(pending, "payment");
  if (!isWhole || typeof field(pending, "note") !== "object")
    throw new Problem("bad-request", `--resume: ${file} holds no payment of "payphone call"`);
  return pending as Pending;
}
