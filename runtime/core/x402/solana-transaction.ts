import { toBase58 } from "./base58.ts";

/** The parts of a Solana payment that the core needs, read without an SDK. */
export interface SolanaTransaction {
  /** The bytes that are signed; two payments with the same message are the same payment. */
  readonly message: Uint8Array;
  /** Atomic units of SPL Token's one TransferChecked instruction; undefined when there is none, or more than one. */
  readonly amount: bigint | undefined;
  /** The token account that pays; undefined without that one transfer, or when an address table holds it. */
  readonly source: Uint8Array | undefined;
  /** The two sides of that transfer; undefined where the transaction itself does not tell them. */
  readonly transfer: SolanaTransfer | undefined;
  readonly blockhash: Uint8Array;
}

export interface SolanaTransfer {
  /** The wallet that signs, base58: the token account's owner, or a delegate whom that owner has approved. */
  readonly payer: string;
  /** Of the message; zeros while it is missing. */
  readonly signature: Uint8Array;
  /** The token account that is paid; undefined when an address table holds it. */
  readonly destination: Uint8Array | undefined;
}

const MAX_BYTES = 1232; // the packet limit of the network
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** SPL Token, base58. */
export const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
/** Its instruction: u8 tag, u64 amount (little endian), u8 decimals, and what it ignores; source, mint, destination, authority. */
export const TRANSFER_CHECKED = 12;
export const TRANSFER_CHECKED_BYTES = 10;
const SOURCE = 0;
const DESTINATION = 2;
const AUTHORITY = 3;

/** Reads a serialized, possibly partially signed transaction (legacy or version 0). Undefined when it is malformed. */
export function parseSolanaTransaction(base64: string): SolanaTransaction | undefined {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length === 0 || bytes.length > MAX_BYTES) return undefined;
  try {
    const cursor = { bytes, at: 0 };
    const signatures = readList(cursor, SIGNATURE_BYTES);
    const message = bytes.subarray(cursor.at);
    const isVersioned = ((message[0] ?? 0) & 0x80) !== 0;
    if (isVersioned) take(cursor, 1); // the version prefix
    take(cursor, 3); // the header's three counts
    const keys = readList(cursor, KEY_BYTES);
    const blockhash = read(cursor, KEY_BYTES);
    const instructions = readInstructions(cursor);
    const loaded = isVersioned ? skipLookups(cursor) : 0;
    if (cursor.at !== bytes.length) return undefined; // Trailing bytes would give the same payment another identity.
    // The network takes no instruction without its accounts, and some facilitators fail at it as if they were down.
    const isWhole = ({ program, accounts }: Instruction): boolean =>
      program < keys.length && accounts.every((account) => account < keys.length + loaded);
    if (!instructions.every(isWhole)) return undefined;
    const [paid, ...others] = instructions.filter((instruction) => isTransfer(instruction, keys));
    if (!paid || others.length > 0)
      return { message, amount: undefined, source: undefined, transfer: undefined, blockhash };
    const { accounts, data } = paid;
    const at = accounts[AUTHORITY] ?? Number.POSITIVE_INFINITY;
    const [payer, signature] = [keys[at], signatures[at]]; // The signatures are those of the first keys.
    const [source, destination] = [SOURCE, DESTINATION].map((side) => keys[accounts[side] ?? Number.POSITIVE_INFINITY]);
    const transfer = payer && signature ? { payer: toBase58(payer), signature, destination } : undefined;
    return { message, amount: data.readBigUInt64LE(1), source, transfer, blockhash };
  } catch {
    return undefined; // It ran out of bytes, or a length has too many.
  }
}

/** The token account that pays, base58; undefined where a payload does not tell it, as on EVM. */
export function payingAccountOf({ transaction }: Readonly<Record<string, unknown>>): string | undefined {
  const source = typeof transaction === "string" ? parseSolanaTransaction(transaction)?.source : undefined;
  return source && toBase58(source);
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

interface Instruction {
  /** The place of its program among the transaction's keys. */
  readonly program: number;
  /** The places of its accounts, among these keys and then those of address tables. */
  readonly accounts: Buffer;
  readonly data: Buffer;
}

function readInstructions(cursor: Cursor): Instruction[] {
  return Array.from({ length: readLength(cursor) }, () => {
    const program = read(cursor, 1)[0] as number;
    return { program, accounts: read(cursor, readLength(cursor)), data: read(cursor, readLength(cursor)) };
  });
}

/** Told by its program: a memo can have the bytes and the accounts of a transfer. */
const isTransfer = ({ data, program }: Instruction, keys: readonly Buffer[]): boolean =>
  data.length >= TRANSFER_CHECKED_BYTES &&
  data[0] === TRANSFER_CHECKED &&
  toBase58(keys[program] as Buffer) === TOKEN_PROGRAM;

/**
 * Address table lookups: a table's key, and the indexes of its writable and of its read-only accounts. Returns the number
 * of these accounts.
 */
function skipLookups(cursor: Cursor): number {
  let accounts = 0;
  for (let left = readLength(cursor); left > 0; left -= 1) {
    take(cursor, KEY_BYTES);
    accounts += read(cursor, readLength(cursor)).length;
    accounts += read(cursor, readLength(cursor)).length;
  }
  return accounts;
}

/** A compact-u16, Solana's variable-length count. */
function readLength(cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; shift <= 14; shift += 7) {
    const byte = cursor.bytes[take(cursor, 1).start] as number;
    // A longer spelling would give the same payment another identity: some readers take it, and settle the shortest one.
    if (byte === 0 && shift > 0) throw new RangeError("a count is longer than it must be");
    value |= (byte & 0x7f) << shift;
    // Nothing that is counted has less than a byte. A list of two million would take memory before it is seen to be cut off.
    if (value > cursor.bytes.length) throw new RangeError("the transaction ends early");
    if ((byte & 0x80) === 0) return value;
  }
  throw new RangeError("a count is longer than three bytes");
}

/** A list of parts of equal length. */
const readList = (cursor: Cursor, bytes: number): Buffer[] =>
  Array.from({ length: readLength(cursor) }, () => read(cursor, bytes));

function read(cursor: Cursor, count: number): Buffer {
  const { start, end } = take(cursor, count);
  return cursor.bytes.subarray(start, end);
}

function take(cursor: Cursor, count: number): { start: number; end: number } {
  const start = cursor.at;
  const end = start + count;
  if (end > cursor.bytes.length) throw new RangeError("the transaction ends early");
  cursor.at = end;
  return { start, end };
}
