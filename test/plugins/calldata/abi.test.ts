import { expect } from "chai";
import fc from "fast-check";
import { type AbiParameter, encodeAbiParameters } from "viem";
import { decodeArguments, toBudget } from "../../../plugins/calldata/abi/decode.ts";
import { readSignature } from "../../../plugins/calldata/abi/signature.ts";
import { interpret as read } from "../../../plugins/calldata/interpret.ts";
import { plain, type Sample, toSamples, toText, toViem } from "./samples.ts";

const encode = (given: readonly Sample[]): Buffer => {
  const data = encodeAbiParameters(
    given.map(({ parameter }) => parameter),
    given.map(({ value }) => value),
  );
  return Buffer.from(data.slice(2), "hex");
};
const interpret = async (data: Buffer, texts: readonly string[]) => (await read(data, texts)).shown;
const valuesOf = async (data: Buffer, text: string): Promise<unknown[] | undefined> => {
  const { decoded, params } = await interpret(data, [text]);
  return decoded ? params.map(({ value }) => value) : undefined;
};
const fitOf = async (text: string, data: Buffer): Promise<string | undefined> =>
  (await decodeArguments(readSignature(text)!, data, toBudget(data)))?.fit;

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
  it("are the values that were encoded, whatever their types", async () => {
    await fc.assert(
      fc.asyncProperty(toSamples(0), async (given) => {
        const { params, decoded, canonical, function_signature } = await interpret(encode(given), [toText(given)]);
        expect({ decoded, canonical, function_signature }).to.deep.equal({
          decoded: true,
          canonical: true,
          function_signature: toText(given),
        });
        expect(params).to.deep.equal(given.map(({ text, json }) => ({ name: null, type: text, value: json })));
        expect(JSON.parse(JSON.stringify(params))).to.deep.equal(params);
      }),
      { numRuns: 500 },
    );
  });

  it("are read with more bytes behind them or without padding, and not when some are missing", async () => {
    await fc.assert(
      fc.asyncProperty(toSamples(1), fc.uint8Array({ minLength: 1, maxLength: 40 }), async (given, more) => {
        const data = encode(given);
        expect(await fitOf(toText(given), data)).to.equal("exact");
        expect(await fitOf(toText(given), Buffer.concat([data, more]))).to.equal("trailing");
        const whole = data.subarray(0, data.length - 1);
        expect(["unpadded", "loose", undefined]).to.include(await fitOf(toText(given), whole));
        if (data.at(-1) !== 0) expect(await fitOf(toText(given), whole)).not.to.equal("unpadded");
      }),
      { numRuns: 300 },
    );
  });

  it("are what viem decodes, and canonical only where encoding them again gives the same bytes", async () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 32, 64, 96, 128, 255));
    await fc.assert(
      fc.asyncProperty(toSamples(0), fc.array(change, { minLength: 1, maxLength: 2 }), async (given, changes) => {
        const data = encode(given);
        // Text is left out, as bytes that are no UTF-8 cannot be encoded from it again.
        if (data.length === 0 || toText(given).includes("string")) return;
        for (const [at, byte] of changes) data[(at * 32 + 31) % data.length] = byte;
        const { decoded, canonical, params } = await interpret(data, [toText(given)]);
        const parameters = given.map(({ parameter }) => parameter);
        if (!decoded) return;
        const values = params.map(({ value }, index) => toEncodable(parameters[index] as AbiParameter, value));
        const again = encodeAbiParameters(parameters, values);
        expect(data.toString("hex") === again.slice(2)).to.equal(canonical);
        expect(await fitOf(toText(given), Buffer.from(again.slice(2), "hex"))).to.equal("exact");
      }),
      { numRuns: 1000 },
    );
  });

  it("never fail on any data", async () => {
    await fc.assert(
      fc.asyncProperty(toSamples(0), fc.uint8Array({ maxLength: 400 }), async (given, data) => {
        JSON.stringify(await interpret(Buffer.from(data), [toText(given)]));
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
    "a uint8 of 256": ["f(uint8)", words(256)],
    "an int8 of 128": ["f(int8)", words(128)],
    "a negative int8 that is filled up with zeros": ["f(int8)", words(0xff)],
    "bytes that are longer than the data": ["f(bytes)", words(32, 64, "01")],
    "bytes of 2^48 - 1": ["f(bytes)", words(32, 2 ** 48 - 1, "01")],
    "bytes of 2^256 - 1": ["f(bytes)", words(32, "f".repeat(64))],
    "an offset whose last bytes alone would be right": ["f(bytes)", words(2 ** 52 + 32, 1, "01")],
    "an array of 2^48 - 1": ["f(uint256[])", words(32, 2 ** 48 - 1, 1)],
    "an array of 2^256 - 1": ["f(bytes[])", words(32, "f".repeat(64), 32)],
    "an array in which a fixed one is larger than all data": ["f(uint256[999999999][999999999])", words(1)],
    "no data": ["f(uint256)", words()],
  };
  for (const [name, [text, data]] of Object.entries(unfit))
    it(`do not fit: ${name}`, async () => {
      expect(await interpret(data, [text])).to.deep.equal({
        function_name: null,
        function_signature: null,
        params: [],
        decoded: false,
        canonical: null,
        candidates: [text],
      });
    });

  const loose: Record<string, [text: string, data: Buffer, values: unknown[]]> = {
    "an address with something before it": [
      "f(address)",
      words(`${"0".repeat(22)}01${"ab".repeat(20)}`),
      ["0xABaBaBaBABabABabAbAbABAbABabababaBaBABaB"],
    ],
    "bytes that are filled up with something else": ["f(bytes)", words(32, 1, "0102"), ["0x01"]],
    "bytes whose padding is missing": ["f(bytes)", words(32, 3, "010203").subarray(0, 67), ["0x010203"]],
    "an offset that leaves a gap": ["f(bytes)", words(64, 0, 1, "01"), ["0x01"]],
    "offsets out of order": ["f(bytes,bytes)", words(128, 64, 1, "01", 1, "02"), ["0x02", "0x01"]],
    "offsets that lead to one place": ["f(bytes,bytes)", words(64, 64, 1, "01"), ["0x01", "0x01"]],
    "more bytes behind": ["f(uint8)", words(1, 2), [1]],
  };
  for (const [name, [text, data, values]] of Object.entries(loose))
    it(`are decoded, and not canonical: ${name}`, async () => {
      const { decoded, canonical, params } = await interpret(data, [text]);
      expect([decoded, canonical, params.map(({ value }) => value)]).to.deep.equal([true, false, values]);
    });

  it("are read in a bounded time, however often hostile offsets lead to the same bytes", async () => {
    const many = 1000;
    const hostile: readonly [text: string, data: Buffer][] = [
      ["f(bytes[])", words(32, many, ...Array(many).fill(32 * many), 90_000, ...Array(2900).fill("ab".repeat(32)))],
      ["f(bytes[][])", words(32, many, ...Array(many).fill(0))],
      ["f(uint256[][][][])", words(32, 60, ...Array(4000).fill(0))],
      [`f(bool${"[1]".repeat(8)}[])`, words(32, 4000, ...Array(4000).fill(1))],
      ["f((bytes,bytes)[])", words(32, 900, ...Array(4000).fill(32))],
    ];
    for (const [text, data] of hostile) {
      const began = process.cpuUsage();
      await interpret(data, Array(32).fill(text));
      const { user, system } = process.cpuUsage(began);
      expect((user + system) / 1000, `${text}: milliseconds of CPU`).to.be.below(10_000);
    }
  }).timeout(120_000);

  it("are read by the first of several signatures that leave bytes unread", async () => {
    const { function_signature } = await interpret(words(1, 2, 3), ["f(bool)", "g(uint256)", "h(uint256,uint256)"]);
    expect(function_signature).to.equal("f(bool)");
  });

  it("are shown as hexadecimal digits where a string is no UTF-8", async () => {
    expect(await valuesOf(words(32, 3, "ff0041"), "f(string)")).to.deep.equal(["0xff0041"]);
    expect(await valuesOf(words(32, 3, "410042"), "f(string)")).to.deep.equal(["A\u0000B"]);
    expect(await valuesOf(words(32, 3, "eda080"), "f(string)"), "half a surrogate pair").to.deep.equal(["0xeda080"]);
  });

  it("are numbers up to 2^53 - 1 and text beyond, on both sides of zero", async () => {
    const values = [2n ** 53n - 1n, 2n ** 53n, -(2n ** 53n) + 1n, -(2n ** 53n), 2n ** 255n - 1n];
    const data = encode(values.map((value) => plain("int256", value, undefined)));
    expect(await valuesOf(data, `f(${values.map(() => "int256").join(",")})`)).to.deep.equal([
      9007199254740991,
      "9007199254740992",
      -9007199254740991,
      "-9007199254740992",
      "57896044618658097711785492504343953926634992332820282019728792003956564819967",
    ]);
  });

  it("are the 24 bytes of a function that is passed", async () => {
    expect(await valuesOf(words("ab".repeat(24)), "f(function)")).to.deep.equal([`0x${"ab".repeat(24)}`]);
  });
});
