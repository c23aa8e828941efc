import { isUtf8 } from "node:buffer";
import { base58 } from "@scure/base";

/** One kind of instruction of a program, as bytes and accounts. */
export interface Layout {
  /** The bytes that it begins with, in hex. */
  readonly tag: string;
  readonly type: string;
  /** What its accounts are, in order; more may follow. */
  readonly accounts: readonly string[];
  /** What follows the tag, in order; more may follow. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** Little-endian numbers, public keys and texts. Numbers of 64 bits are given as decimal texts, keys in base58. */
export type FieldKind = "u8" | "u32" | "u64" | "key" | "optionalKey" | "authorityType" | "text" | "rest";

/** An instruction by its names. */
export type NamedInstruction = { readonly type: string; readonly info: Readonly<Record<string, unknown>> };

/** Reads an instruction with the first layout whose tag it has; null when there is none, or when bytes are missing. */
export function readLayout(
  layouts: readonly Layout[],
  accounts: readonly string[],
  data: Buffer,
): NamedInstruction | null {
  // The Associated Token Account program takes no data for its first instruction.
  const digits = data.toString("hex") || "00";
  const layout = layouts.find(({ tag }) => digits.startsWith(tag));
  if (!layout) return null;
  const take = createTake(data.subarray(layout.tag.length / 2));
  const fields = Object.entries(layout.fields).map(([name, kind]) => [name, READ[kind](take)] as const);
  if (fields.some(([, value]) => value === undefined)) return null;
  const named = layout.accounts.slice(0, accounts.length).map((name, index) => [name, accounts[index]] as const);
  return { type: layout.type, info: Object.fromEntries([...named, ...fields]) };
}

/** The next bytes, as many as asked for or else all that are left; undefined when there are not so many. */
type Take = (bytes?: number) => Buffer | undefined;

function createTake(data: Buffer): Take {
  let at = 0;
  return (bytes = data.length - at) => {
    if (at + bytes > data.length) return undefined;
    at += bytes;
    return data.subarray(at - bytes, at);
  };
}

/** Each answers undefined where the bytes do not hold such a value. */
const READ: Readonly<Record<FieldKind, (take: Take) => unknown>> = {
  u8: (take) => take(1)?.readUInt8(),
  u32: (take) => take(4)?.readUInt32LE(),
  u64: (take) => toU64(take)?.toString(),
  key: toKey,
  optionalKey: (take) => (take(1)?.readUInt8() === 0 ? null : toKey(take)),
  authorityType: toAuthorityType,
  text: (take) => {
    const length = toU64(take);
    return length === undefined ? undefined : toText(take(Number(length)));
  },
  rest: (take) => toText(take()),
};

const toU64 = (take: Take): bigint | undefined => take(8)?.readBigUInt64LE();

function toKey(take: Take): string | undefined {
  const bytes = take(32);
  return bytes && base58.encode(bytes);
}

/** What the Token program's `setAuthority` gives away; Token-2022 knows more of them, which stay numbers. */
function toAuthorityType(take: Take): string | number | undefined {
  const type = take(1)?.readUInt8();
  return type === undefined ? undefined : (AUTHORITY_TYPES[type] ?? type);
}

const AUTHORITY_TYPES = ["mintTokens", "freezeAccount", "accountOwner", "closeAccount"];

const toText = (bytes: Buffer | undefined): string | undefined =>
  bytes && isUtf8(bytes) ? bytes.toString("utf8") : undefined;
