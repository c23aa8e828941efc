import { isUtf8 } from "node:buffer";
import { base58 } from "@scure/base";

/** The layout of one instruction of a program: its data bytes and accounts. */
export interface InstructionLayout {
  /** The discriminator: the first bytes of the data, in hex. */
  readonly tag: string;
  /** What the bytes after it, which are a field, must begin with, in hex. */
  readonly next?: string;
  readonly type: string;
  /** The names of the accounts, in order; more may follow. */
  readonly accounts: readonly string[];
  /** The fields after the tag, in order; more may follow. */
  readonly fields: Readonly<Record<string, FieldKind>>;
}

/** Numbers are little-endian. u64 is returned as decimal text, keys in base58. */
export type FieldKind = "u8" | "u32" | "u64" | "key" | "optionalKey" | "authorityType" | "text" | "rest";

/** A decoded instruction, in the form of a node's `jsonParsed`. */
export type NamedInstruction = { readonly type: string; readonly info: Readonly<Record<string, unknown>> };

/** Decodes an instruction with the first layout whose tag matches; null when none matches, or when bytes are missing. */
export function readLayout(
  layouts: readonly InstructionLayout[],
  accounts: readonly string[],
  data: Buffer,
): NamedInstruction | null {
  // The Associated Token Account program's first instruction may have no data.
  const digits = data.toString("hex") || "00";
  const layout = layouts.find(({ tag, next = "" }) => digits.startsWith(tag + next));
  if (!layout) return null;
  const take = createTake(data.subarray(layout.tag.length / 2));
  const fields = Object.entries(layout.fields).map(([name, kind]) => [name, READ[kind](take)] as const);
  if (fields.some(([, value]) => value === undefined)) return null;
  const named = layout.accounts.slice(0, accounts.length).map((name, index) => [name, accounts[index]] as const);
  return { type: layout.type, info: Object.fromEntries([...named, ...fields]) };
}

/** Takes the next bytes, by default all that are left; undefined when there are too few. */
type Take = (bytes?: number) => Buffer | undefined;

function createTake(data: Buffer): Take {
  let at = 0;
  return (bytes = data.length - at) => {
    if (at + bytes > data.length) return undefined;
    at += bytes;
    return data.subarray(at - bytes, at);
  };
}

/** Each returns undefined when the bytes do not contain such a value. */
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

/** The authority that the Token program's `setAuthority` changes. Authorities that only Token-2022 has stay numbers. */
function toAuthorityType(take: Take): string | number | undefined {
  const type = take(1)?.readUInt8();
  return type === undefined ? undefined : (AUTHORITY_TYPES[type] ?? type);
}

const AUTHORITY_TYPES = ["mintTokens", "freezeAccount", "accountOwner", "closeAccount"];

const toText = (bytes: Buffer | undefined): string | undefined =>
  bytes && isUtf8(bytes) ? bytes.toString("utf8") : undefined;
