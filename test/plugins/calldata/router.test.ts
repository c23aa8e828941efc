import { expect } from "chai";
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  parseAbi,
  parseAbiParameters,
  toHex,
} from "viem";
import type { DecodedCall } from "../../../plugins/calldata/calls/calls.ts";
import { callsOf, summariesOf } from "./inner-calls.ts";

const TO = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const WETH = "0x4200000000000000000000000000000000000006";
const ABI = parseAbi([
  "function execute(bytes commands, bytes[] inputs, uint256 deadline)",
  "function executeSigned(bytes commands, bytes[] inputs, bytes32 intent, bytes32 data, bool verifySender, bytes32 nonce, bytes signature, uint256 deadline)",
  "function transfer(address to, uint256 amount)",
]);
const ZERO = toHex(0, { size: 32 });
const run = (commands: Hex, ...inputs: Hex[]): Promise<DecodedCall[]> =>
  callsOf(encodeFunctionData({ abi: ABI, functionName: "execute", args: [commands, inputs, 1n] }));
const encode = (types: string, ...values: readonly unknown[]): Hex =>
  encodeAbiParameters(parseAbiParameters(types), values as never);

describe("the commands of the Universal Router", () => {
  const MOST = 2n ** 160n - 1n;

  it("say what they allow through Permit2, of one token and of several", async () => {
    const single = encode(
      "((address,uint160,uint48,uint48),address,uint256), bytes",
      [[USDC, MOST, 1, 0], TO, 5n],
      "0x",
    );
    const details = [
      [USDC, 1_500_000n, 1, 0],
      [WETH, MOST, 1, 0],
    ];
    const batch = "((address,uint160,uint48,uint48)[],address,uint256), bytes";
    const calls = await run(
      "0x0a0383",
      single,
      encode(batch, [details, TO, 5n], "0x"),
      encode(batch, [[...details, [TO, 1n, 1, 0]], TO, 5n], "0x"),
    );
    expect(calls.map(({ decoded, canonical }) => [decoded, canonical])).to.deep.equal(Array(3).fill([true, true]));
    expect(summariesOf(calls)).to.deep.equal([
      `allow ${TO} to spend unlimited USDC of the caller through Permit2`,
      `allow ${TO} to spend 1.5 USDC of the caller through Permit2; allow ${TO} to spend unlimited WETH of the caller through Permit2`,
      null, // One of the tokens is not known.
    ]);
  });

  it("say what they take through Permit2, from whom and for whom", async () => {
    const transfer = encode("(address,address,uint160,address)[]", [[TO, WETH, 1_500_000n, USDC]]);
    const [call] = await run("0x0d", transfer);
    expect(call).to.include({ function_name: "PERMIT2_TRANSFER_FROM_BATCH", canonical: true });
    expect(call?.summary).to.equal(`transfer 1.5 USDC from ${TO} to ${WETH}`);
  });

  it("say who gets what is swapped and wrapped", async () => {
    const caller = `0x${"1".padStart(40, "0")}`;
    const path = concatHex([WETH, toHex(500, { size: 3 }), USDC]);
    const v3 = "address, uint256, uint256, bytes, bool";
    const v2 = "address, uint256, uint256, address[], bool";
    const calls = await run(
      "0x0001080809090b0f",
      encode(v3, TO, 10n ** 18n, 5n, path, true),
      encode(v3, caller, 10n ** 18n, 5n, path, true),
      encode(v2, TO, 10n ** 18n, 5n, [WETH, TO, USDC], true),
      encode(v2, TO, 0n, 5n, [WETH, USDC], true),
      encode(v2, TO, 10n ** 18n, 5n, [USDC, WETH], true),
      encode(v2, TO, 10n ** 18n, 5n, [USDC, TO], true),
      encode("address, uint256", TO, 1n),
      encode("address, uint256", TO, 1n),
    );
    expect(summariesOf(calls)).to.deep.equal([
      `swap 1 WETH for at least 0.000005 USDC to ${TO}`,
      "swap at most 0.000005 USDC for 1 WETH to the caller",
      `swap 1 WETH for at least 0.000005 USDC to ${TO}`,
      `swap what the pair was paid for at least 0.000005 USDC to ${TO}`,
      `swap at most 0.000005 USDC for 1 WETH to ${TO}`,
      null,
      `wrap 0.000000000000000001 ETH (or the chain's own coin) for ${TO}`,
      `unwrap 0.000000000000000001 WETH (or the chain's own coin, wrapped) for ${TO}`,
    ]);
  });

  it("say nothing of swaps whose path the router refuses, or reads otherwise", async () => {
    const v3 = "address, uint256, uint256, bytes, bool";
    const v2 = "address, uint256, uint256, address[], bool";
    const fee = toHex(500, { size: 3 });
    const paths = [WETH, concatHex([WETH, fee]), "0x", concatHex([WETH, fee, USDC, WETH]), concatHex([WETH, USDC])];
    const v3Swaps = paths.map((path) => encode(v3, TO, 10n ** 18n, 5n, path, true));
    const v2Swaps = [[WETH], []].map((path) => encode(v2, TO, 10n ** 18n, 5n, path, true));
    const calls = await run("0x00000000000109080808", ...v3Swaps, v3Swaps[3]!, ...v2Swaps, ...v2Swaps);
    expect(summariesOf(calls)).to.deep.equal(Array(10).fill(null));
    const path = concatHex([WETH, fee, TO, fee, USDC]);
    const [two] = await run("0x00", encode(v3, TO, 10n ** 18n, 5n, path, true));
    expect(two?.summary).to.equal(`swap 1 WETH for at least 0.000005 USDC to ${TO}`);
  });

  it("say nothing where not each has its input: the router then runs none of them", async () => {
    const sweep = encode("address, address, uint256", USDC, TO, 1n);
    for (const [commands, inputs] of [
      ["0x0404", [sweep]],
      ["0x04", [sweep, sweep]],
    ] as const) {
      const calls = await run(commands, ...inputs);
      expect(calls[0]).to.include({ function_name: "SWEEP", summary: null });
    }
    const plan = encode("bytes, bytes[]", "0x04", [sweep]);
    expect(summariesOf((await run("0x21", plan))[0]?.calls ?? [])[0]).to.match(/^send all/);
    expect(summariesOf((await run("0x2104", plan))[0]?.calls ?? [])).to.deep.equal([null]);
  });

  it("are those of version 2.1, too: least prices of hops, bridges, and calls of position managers", async () => {
    const path = concatHex([WETH, toHex(500, { size: 3 }), USDC]);
    const swap = encode("address, uint256, uint256, bytes, bool, uint256[]", TO, 10n ** 18n, 5n, path, true, [7n]);
    const bridge = "(address,address,address,address,uint256,uint256,uint256,address,uint32,uint32,uint32,bytes,bool)";
    const deposit = encode(bridge, [TO, TO, USDC, USDC, 9n, 8n, 8453n, TO, 1, 2, 3, "0x", false]);
    const transfer = encodeFunctionData({ abi: ABI, functionName: "transfer", args: [TO, 1n] });
    const calls = await run("0x004012", swap, deposit, transfer);
    expect(calls.map(({ function_name, canonical }) => [function_name, canonical])).to.deep.equal([
      ["V3_SWAP_EXACT_IN", true],
      ["ACROSS_V4_DEPOSIT_V3", true],
      ["transfer", true],
    ]);
    expect(calls[0]?.summary).to.equal(`swap 1 WETH for at least 0.000005 USDC to ${TO}`);
  });

  it("are read in a signed execution as well, and by the bits that older routers read", async () => {
    const sweep = encode("address, address, uint256", USDC, TO, 1n);
    const args = ["0x44", [sweep], ZERO, ZERO, true, ZERO, "0x", 1n] as const;
    const [call] = await callsOf(encodeFunctionData({ abi: ABI, functionName: "executeSigned", args }));
    expect(call?.summary).to.equal(`send all, at least 0.000001 USDC, to ${TO}`);
    expect((await run("0x55", sweep))[0]).to.include({ decoded: false, function_name: null });
  });
});
