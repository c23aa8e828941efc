import fc from "fast-check";
import { type AbiParameter, getAddress, type Hex } from "viem";

/** A parameter as viem encodes it, with a value, and how that looks as JSON. */
export interface Sample {
  readonly parameter: AbiParameter;
  readonly text: string;
  readonly value: unknown;
  readonly json: unknown;
}

const toInteger = (value: bigint): number | string =>
  value >= -(2n ** 53n) + 1n && value <= 2n ** 53n - 1n ? Number(value) : value.toString();

const toHex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;

/** @param text of a type without parts. */
export const plain = (text: string, value: unknown, json: unknown): Sample => ({
  parameter: { type: text },
  text,
  value,
  json,
});

const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8);
/** viem takes numbers for integers of up to 48 bits. */
export const toViem = (value: bigint, width: number): unknown => (width <= 48 ? Number(value) : value);

const uint = bits.chain((width) =>
  fc
    .oneof(fc.constantFrom(0n, 2n ** BigInt(width) - 1n), fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }))
    .map((value) => plain(`uint${width}`, toViem(value, width), toInteger(value))),
);
const int = bits.chain((width) => {
  const half = 2n ** BigInt(width - 1);
  return fc
    .oneof(fc.constantFrom(-half, -1n, half - 1n), fc.bigInt({ min: -half, max: half - 1n }))
    .map((value) => plain(`int${width}`, toViem(value, width), toInteger(value)));
});
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => {
  const value = getAddress(toHex(bytes));
  return plain("address", value.toLowerCase(), value);
});
const bool = fc.boolean().map((value) => plain("bool", value, value));
const bytesN = fc.uint8Array({ minLength: 1, maxLength: 32 }).map((bytes) => {
  return plain(`bytes${bytes.length}`, toHex(bytes), toHex(bytes));
});
const bytes = fc.uint8Array({ maxLength: 70 }).map((value) => plain("bytes", toHex(value), toHex(value)));
const string = fc.string({ unit: "grapheme", maxLength: 40 }).map((value) => plain("string", value, value));

const toTuple = (samples: readonly Sample[]): Sample => ({
  parameter: {
    type: "tuple",
    components: samples.map(({ parameter }, index) => ({ ...parameter, name: `c${index}` })),
  },
  text: `(${samples.map(({ text }) => text).join(",")})`,
  value: Object.fromEntries(samples.map(({ value }, index) => [`c${index}`, value])),
  json: samples.map(({ json }) => json),
});

/** An array whose every item is of the first one's type: that same value, so that it has that type in all its depth. */
const toList = (item: Sample, length: number, isFixed: boolean): Sample => {
  const brackets = isFixed ? `[${length}]` : "[]";
  return {
    parameter: { ...item.parameter, type: `${item.parameter.type}${brackets}` } as AbiParameter,
    text: `${item.text}${brackets}`,
    value: Array.from({ length }, () => item.value),
    json: Array.from({ length }, () => item.json),
  };
};

const { sample } = fc.letrec<{ sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(uint, int, address, bool, bytesN, bytes, string),
    fc.array(tie("sample"), { minLength: 1, maxLength: 4 }).map(toTuple),
    fc.tuple(tie("sample"), fc.integer({ min: 0, max: 4 })).map(([item, length]) => toList(item, length, false)),
    fc.tuple(tie("sample"), fc.integer({ min: 1, max: 3 })).map(([item, length]) => toList(item, length, true)),
  ),
}));

/** Parameters of any types, with values, whose signature is no longer than what is read. */
export const toSamples = (minLength: number): fc.Arbitrary<Sample[]> =>
  fc.array(sample, { minLength, maxLength: 5 }).filter((given) => toText(given).length <= 1000);

/** `f(…)` of the samples. */
export const toText = (given: readonly Sample[]): string => `f(${given.map(({ text }) => text).join(",")})`;
