/** The parts of a Solana payment that the core needs, read without an SDK. */
export interface SolanaTransaction {
  /** The bytes that are signed; two payments with the same message are the same payment. */
  readonly message: Uint8Array;
  /** Atomic units of the one SPL Token TransferChecked instruction; undefined when there is none, or more than one. */
  readonly amount: bigint | undefined;
}

const MAX_BYTES = 1232; // the packet limit of the network
const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
const TRANSFER_CHECKED = 12; // SPL Token instruction 12: u8 tag, u64 amount (little endian), u8 decimals
const TRANSFER_CHECKED_BYTES = 10;

/** Reads a serialized, possibly partially signed transaction (legacy or version 0). Undefined when it is malformed. */
export function parseSolanaTransaction(base64: string): SolanaTransaction | undefined {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length === 0 || bytes.length > MAX_BYTES) return undefined;
  try {
    const cursor = { bytes, at: 0 };
    const signatures = readLength(cursor);
    const message = bytes.subarray(take(cursor, signatures * SIGNATURE_BYTES).end);
    const isVersioned = ((message[0] ?? 0) & 0x80) !== 0;
    if (isVersioned) take(cursor, 1); // the version prefix
    take(cursor, 3); // the header's three counts
    take(cursor, readLength(cursor) * KEY_BYTES);
    take(cursor, KEY_BYTES); // the recent blockhash
    const instructions = readInstructions(cursor);
    if (isVersioned) skipLookups(cursor);
    if (cursor.at !== bytes.length) return undefined; // Trailing bytes would give the same payment another identity.
    const amounts = instructions.flatMap((data) =>
      data.length === TRANSFER_CHECKED_BYTES && data[0] === TRANSFER_CHECKED ? [data.readBigUInt64LE(1)] : [],
    );
    return { message, amount: amounts.length === 1 ? amounts[0] : undefined };
  } catch {
    return undefined; // The only throw below is "ran out of bytes".
  }
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
}

function readInstructions(cursor: Cursor): Buffer[] {
  return Array.from({ length: readLength(cursor) }, () => {
    take(cursor, 1); // the program's index
    take(cursor, readLength(cursor)); // the accounts' indexes
    const { start, end } = take(cursor, readLength(cursor));
    return cursor.bytes.subarray(start, end);
  });
}

/** Address table lookups: a table's key, and the indexes of its writable and of its read-only accounts. */
function skipLookups(cursor: Cursor): void {
  for (let left = readLength(cursor); left > 0; left -= 1) {
    take(cursor, KEY_BYTES);
    take(cursor, readLength(cursor));
    take(cursor, readLength(cursor));
  }
}

/** A compact-u16, Solana's variable-length count. */
function readLength(cursor: Cursor): number {
  let value = 0;
  for (let shift = 0; shift <= 14; shift += 7) {
    const byte = cursor.bytes[take(cursor, 1).start] as number;
    value |= (byte & 0x7f) << shift;
    if ((byte & 0x80) === 0) return value;
  }
  throw new RangeError("a count is longer than three bytes");
}

function take(cursor: Cursor, count: number): { start: number; end: number } {
  const start = cursor.at;
  const end = start + count;
  if (end > cursor.bytes.length) throw new RangeError("the transaction ends early");
  cursor.at = end;
  return { start, end };
}
