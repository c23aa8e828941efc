import { expect } from "chai";
import fc from "fast-check";
import { type AbiParameter, encodeAbiParameters } from "viem";
import { decode } from "../../../plugins/calldata/decode.ts";
import { interpret } from "../../../plugins/calldata/interpret.ts";
import { readTypes } from "../../../plugins/calldata/types.ts";
import { plain, type Sample, toSamples, toText, toViem } from "./samples.ts";

const encode = (given: readonly Sample[]): Buffer => {
  const data = encodeAbiParameters(
    given.map(({ parameter }) => parameter),
    given.map(({ value }) => value),
  );
  return Buffer.from(data.slice(2), "hex");
};
const valuesOf = (data: Buffer, text: string): unknown[] | undefined => {
  const { decoded, params } = interpret(data, [text]);
  return decoded ? params.map(({ value }) => value) : undefined;
};

/** JSON as viem takes it. */
function toEncodable(parameter: AbiParameter, json: unknown): unknown {
  const [, item] = /^(.*)\[\d*\]$/.exec(parameter.type) ?? [];
  if (item) return (json as unknown[]).map((value) => toEncodable({ ...parameter, type: item } as AbiParameter, value));
  if (!("components" in parameter))
    return /^u?int/.test(parameter.type)
      ? toViem(BigInt(json as string | number), Number(parameter.type.replace(/\D/g, "")))
      : json;
  const entries = parameter.components.map((component, index) => [
    component.name,
    toEncodable(component, (json as unknown[])[index]),
  ]);
  return Object.fromEntries(entries);
}

describe("the arguments in calldata", () => {
  it("are the values that were encoded, whatever their types", () => {
    fc.assert(
      fc.property(toSamples(0), (given) => {
        const { params, decoded, function_signature } = interpret(encode(given), [toText(given)]);
        expect({ decoded, function_signature }).to.deep.equal({ decoded: true, function_signature: toText(given) });
        expect(params).to.deep.equal(given.map(({ text, json }) => ({ name: null, type: text, value: json })));
        expect(JSON.parse(JSON.stringify(params))).to.deep.equal(params);
      }),
      { numRuns: 500 },
    );
  });

  it("are read with more bytes behind them, and not when some are missing", () => {
    fc.assert(
      fc.property(toSamples(1), fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(), (given, more, cut) => {
        const data = encode(given);
        const types = readTypes(toText(given).slice(1))!;
        expect(decode(types, data)?.isExact).to.equal(true);
        expect(decode(types, Buffer.concat([data, more]))?.isExact).to.equal(false);
        expect(decode(types, data.subarray(0, cut % data.length))).to.equal(undefined);
      }),
      { numRuns: 300 },
    );
  });

  it("are read only where encoding them again gives the same bytes", () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 32, 64, 96, 128, 255));
    fc.assert(
      fc.property(toSamples(0), fc.array(change, { minLength: 1, maxLength: 2 }), (given, changes) => {
        const data = encode(given);
        // Text is left out, as bytes that are no UTF-8 cannot be encoded from it again.
        if (data.length === 0 || toText(given).includes("string")) return;
        for (const [at, byte] of changes) data[(at * 32 + 31) % data.length] = byte;
        const values = valuesOf(data, toText(given));
        if (values === undefined) return;
        const parameters = given.map(({ parameter }) => parameter);
        const again = encodeAbiParameters(
          parameters,
          parameters.map((parameter, index) => toEncodable(parameter, values[index])),
        );
        expect(data.toString("hex").startsWith(again.slice(2))).to.equal(true);
      }),
      { numRuns: 1000 },
    );
  });

  it("never fail on any data", () => {
    fc.assert(
      fc.property(toSamples(0), fc.uint8Array({ maxLength: 400 }), (given, data) => {
        JSON.stringify(interpret(Buffer.from(data), [toText(given)]));
      }),
      { numRuns: 300 },
    );
  });

  /** Words of 32 bytes: a number fills one from the right, a text is its hexadecimal digits from the left. */
  const words = (...given: (number | string)[]): Buffer =>
    Buffer.from(
      given
        .map((word) => (typeof word === "number" ? word.toString(16).padStart(64, "0") : word.padEnd(64, "0")))
        .join(""),
      "hex",
    );

  const unfit: Record<string, [text: string, data: Buffer]> = {
    "a bool of 2": ["f(bool)", words(2)],
    "an address with something before it": ["f(address)", words(`${"0".repeat(22)}01${"ab".repeat(20)}`)],
    "a uint8 of 256": ["f(uint8)", words(256)],
    "an int8 of 128": ["f(int8)", words(128)],
    "a negative int8 that is filled up with zeros": ["f(int8)", words(0xff)],
    "a bytes4 of five bytes": ["f(bytes4)", words("0102030405")],
    "bytes that are filled up with something else": ["f(bytes)", words(32, 1, "0102")],
    "bytes that are longer than the data": ["f(bytes)", words(32, 64, "01")],
    "bytes of 2^48 - 1": ["f(bytes)", words(32, 2 ** 48 - 1, "01")],
    "bytes of 2^256 - 1": ["f(bytes)", words(32, "f".repeat(64))],
    "an offset whose last bytes alone would be right": ["f(bytes)", words(2 ** 52 + 32, 1, "01")],
    "an array of 2^48 - 1": ["f(uint256[])", words(32, 2 ** 48 - 1, 1)],
    "an array of 2^256 - 1": ["f(bytes[])", words(32, "f".repeat(64), 32)],
    "an array in which a fixed one is larger than all data": ["f(uint256[999999999][999999999])", words(1)],
    "an offset that leads to itself": ["f(bytes[])", words(0)],
    "an offset into what was read already": ["f(bytes,bytes)", words(64, 64, 1, "01")],
    "offsets that lead to one place": ["f(bytes[])", words(32, 2, 64, 64, 1, "01", 1, "01")],
    "an offset that leaves a gap": ["f(bytes)", words(64, 0, 1, "01")],
    "offsets out of order": ["f(bytes,bytes)", words(128, 64, 1, "01", 1, "02")],
    "no data": ["f(uint256)", words()],
  };
  for (const [name, [text, data]] of Object.entries(unfit))
    it(`do not fit: ${name}`, () => {
      expect(interpret(data, [text])).to.deep.equal({
        ...{ function_name: null, function_signature: null, params: [], decoded: false, candidates: [text] },
      });
    });

  it("are read by the first of several signatures that leave bytes unread", () => {
    const { function_signature } = interpret(words(1, 2, 3), ["f(bool)", "g(uint256)", "h(uint256,uint256)"]);
    expect(function_signature).to.equal("f(bool)");
  });

  it("are shown as hexadecimal digits where a string is no UTF-8", () => {
    expect(valuesOf(words(32, 3, "ff0041"), "f(string)")).to.deep.equal(["0xff0041"]);
    expect(valuesOf(words(32, 3, "410042"), "f(string)")).to.deep.equal(["A\u0000B"]);
    expect(valuesOf(words(32, 3, "eda080"), "f(string)"), "half a surrogate pair").to.deep.equal(["0xeda080"]);
  });

  it("are numbers up to 2^53 - 1 and text beyond, on both sides of zero", () => {
    const values = [2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n) + 1n, -(2n ** 53n), 2n ** 255n - 1n];
    const data = encode(values.map((value) => plain("int256", value, undefined)));
    expect(valuesOf(data, `f(${values.map(() => "int256").join(",")})`)).to.deep.equal([
      ...[9007199254740991, "9007199254740992", -9007199254740991, "-9007199254740992"],
      "57896044618658097711785492504343953926634992332820282019728792003956564819967",
    ]);
  });

  it("are the 24 bytes of a function that is passed", () => {
    expect(valuesOf(words("ab".repeat(24)), "f(function)")).to.deep.equal([`0x${"ab".repeat(24)}`]);
  });
});
