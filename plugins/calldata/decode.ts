import type { AbiType, WordType } from "./types.ts";

/** A decoded value: the bytes of a word or a blob that mean something, or the values of a list or a tuple. */
export type Value = Buffer | readonly Value[];

/** The values of the parameters, and whether they take up all of the data. */
export interface Reading {
  readonly values: readonly Value[];
  readonly isExact: boolean;
}

const ZEROS = Buffer.alloc(32);
const ONES = Buffer.alloc(32, 0xff);
const UNFIT = new RangeError("the data is no canonical encoding of these types");

/**
 * Decodes what is encoded canonically, as compilers and libraries do it (Solidity's "Formal Specification of the
 * Encoding"): values in order, without gaps, offsets that point to where the last value ended, and padding of the right
 * kind. So each byte is read once, and no data can keep this busy with offsets that lead to the same place again and
 * again. Bytes may follow after the last value. Undefined when the data does not fit.
 */
export function decode(types: readonly AbiType[], data: Buffer): Reading | undefined {
  try {
    const { values, end } = readSequence(data, 0, types.length, (index) => types[index] as AbiType);
    return { values, isExact: end === data.length };
  } catch (error) {
    if (error === UNFIT) return undefined;
    throw error;
  }
}

interface Sequence {
  readonly values: readonly Value[];
  readonly end: number;
}

/** Values side by side: first all heads, then, in the same order, what the offsets in them point to. */
function readSequence(data: Buffer, start: number, count: number, typeAt: (index: number) => AbiType): Sequence {
  let head = start;
  let end = start;
  for (let index = 0; index < count && end <= data.length; index++) end += typeAt(index).head;
  if (end > data.length) throw UNFIT;
  const values: Value[] = [];
  for (let index = 0; index < count; index++) {
    const type = typeAt(index);
    if (type.isDynamic && readSize(data, head) !== end - start) throw UNFIT;
    const read = readValue(data, type.isDynamic ? end : head, type);
    values.push(read.value);
    if (type.isDynamic) end = read.end;
    head += type.head;
  }
  return { values, end };
}

function readValue(data: Buffer, at: number, type: AbiType): { readonly value: Value; readonly end: number } {
  switch (type.kind) {
    case "bytes":
    case "string":
      return readBlob(data, at);
    case "tuple":
      return toRead(readSequence(data, at, type.items.length, (index) => type.items[index] as AbiType));
    case "list":
      return toRead(
        type.length === undefined
          ? readSequence(data, at + 32, readSize(data, at), () => type.item)
          : readSequence(data, at, type.length, () => type.item),
      );
    default:
      return { value: readWord(data, at, type), end: at + 32 };
  }
}

const toRead = ({ values, end }: Sequence): { readonly value: Value; readonly end: number } => ({ value: values, end });

function readBlob(data: Buffer, at: number): { readonly value: Buffer; readonly end: number } {
  const start = at + 32;
  const stop = start + readSize(data, at);
  const end = start + Math.ceil((stop - start) / 32) * 32;
  if (end > data.length || !isFilled(data, stop, end, ZEROS)) throw UNFIT;
  return { value: data.subarray(start, stop), end };
}

function readWord(data: Buffer, at: number, { kind, size }: WordType): Buffer {
  const isLeft = kind === "bytesN";
  const value = isLeft ? data.subarray(at, at + size) : data.subarray(at + 32 - size, at + 32);
  const padding = kind === "int" && (value[0] as number) >= 0x80 ? ONES : ZEROS;
  if (!isFilled(data, isLeft ? at + size : at, isLeft ? at + 32 : at + 32 - size, padding)) throw UNFIT;
  if (kind === "bool" && (value[0] as number) > 1) throw UNFIT;
  return value;
}

/** A length or an offset. */
function readSize(data: Buffer, at: number): number {
  if (at + 32 > data.length || !isFilled(data, at, at + 26, ZEROS)) throw UNFIT;
  return data.readUIntBE(at + 26, 6);
}

const isFilled = (data: Buffer, start: number, stop: number, padding: Buffer): boolean =>
  data.compare(padding, 0, stop - start, start, stop) === 0;
