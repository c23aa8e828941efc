import { expect } from "chai";
import {
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  encodePacked,
  type Hex,
  parseAbi,
  parseAbiParameters,
  toHex,
} from "viem";
import { createDecodeCalls } from "../../../plugins/calldata/calls/calls.ts";
import { interpret } from "../../../plugins/calldata/interpret.ts";
import { callsOf, summariesOf } from "./inner-calls.ts";

const VITALIK = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const WETH = "0x4200000000000000000000000000000000000006";
const ROUTER = "0x6fF5693b99212Da76ad316178A184AB56D299b43";
const ABI = parseAbi([
  "function transfer(address to, uint256 amount)",
  "function approve(address spender, uint256 amount)",
  "function multicall(bytes[] data)",
  "function aggregate3((address target, bool allowFailure, bytes callData)[] calls)",
  "function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures)",
  "function multiSend(bytes transactions)",
  "function execute(bytes commands, bytes[] inputs, uint256 deadline)",
  "function execute(bytes32 mode, bytes executionCalldata)",
  "function withdraw(uint256 amount)",
  "function executeBatch(address[] dest, uint256[] value, bytes[] func)",
  "function handleOps((address sender, uint256 nonce, bytes initCode, bytes callData, bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData, bytes signature)[] ops, address beneficiary)",
]);
const encode = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: ABI, functionName, args } as never);
const TRANSFER = encode("transfer", [VITALIK, 1_500_000n]);

describe("the calls inside of a call", () => {
  it("are decoded with their targets, and with the amount in words where the token is known", async () => {
    const calls = await callsOf(
      encode("aggregate3", [
        [
          { target: USDC, allowFailure: true, callData: TRANSFER },
          { target: VITALIK, allowFailure: false, callData: TRANSFER },
          { target: WETH, allowFailure: false, callData: "0x5c36b186" },
          { target: WETH, allowFailure: false, callData: "0x12345678" },
          { target: WETH, allowFailure: false, callData: "0x" },
        ],
      ]),
    );
    expect(calls[0]).to.deep.equal({
      target: USDC,
      value_wei: null,
      delegatecall: false,
      function_selector: "0xa9059cbb",
      function_name: "transfer",
      function_signature: "transfer(address,uint256)",
      params: [
        { name: null, type: "address", value: VITALIK },
        { name: null, type: "uint256", value: 1_500_000 },
      ],
      decoded: true,
      canonical: true,
      summary: `transfer 1.5 USDC to ${VITALIK}`,
      calls: [],
    });
    expect(calls.map(({ decoded }) => decoded)).to.deep.equal([true, true, true, false, false]);
    expect(summariesOf(calls.slice(1))).to.deep.equal([null, null, null, null]);
  });

  it("of a multicall go to the contract that is called", async () => {
    const [call] = await callsOf(encode("multicall", [[encode("approve", [ROUTER, 2n ** 256n - 1n])]]), USDC);
    expect(call?.summary).to.equal(`allow ${ROUTER} to spend unlimited USDC`);
  });

  it("of a Safe are decoded through MultiSend, to the third level and no deeper", async () => {
    const pack = (to: string, data: Hex): Hex =>
      encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [0, to as Hex, 7n, BigInt(data.length / 2 - 1), data],
      );
    const batch = encode("multiSend", [
      concatHex([pack(USDC, TRANSFER), pack(USDC, encode("multicall", [[TRANSFER]]))]),
    ]);
    const safe = [batch, 1, 0n, 0n, 0n, VITALIK, VITALIK, "0x"];
    const [first] = await callsOf(encode("execTransaction", [ROUTER, 0n, ...safe]));
    expect(first).to.include({ target: ROUTER, function_name: "multiSend", value_wei: "0" });
    expect(summariesOf(first?.calls ?? [])).to.deep.equal([`transfer 1.5 USDC to ${VITALIK}`, null]);
    const third = first?.calls[1]?.calls[0];
    expect(third).to.include({ function_name: "transfer", target: USDC });
    const deep = encode("multicall", [
      [encode("multicall", [[encode("multicall", [[encode("multicall", [[TRANSFER]])]])]])],
    ]);
    expect((await callsOf(deep))[0]?.calls[0]?.calls[0]).to.deep.include({ function_name: "multicall", calls: [] });
  });

  it("of an operation (ERC-4337) are the account's", async () => {
    const account = encode("executeBatch", [[USDC], [5n], [TRANSFER]]);
    const operation = [VITALIK, 0n, "0x", account, toHex(0, { size: 32 }), 0n, toHex(0, { size: 32 }), "0x", "0x"];
    const names = ["sender", "nonce", "initCode", "callData", "accountGasLimits"];
    const rest = ["preVerificationGas", "gasFees", "paymasterAndData", "signature"];
    const packed = Object.fromEntries([...names, ...rest].map((name, at) => [name, operation[at]]));
    const [call] = await callsOf(encode("handleOps", [[packed], VITALIK]));
    expect(call).to.include({ target: VITALIK, function_name: "executeBatch" });
    expect(call?.calls[0]).to.include({ value_wei: "5", summary: `transfer 1.5 USDC to ${VITALIK}` });
  });

  it("of the Universal Router are its commands", async () => {
    const path = concatHex([USDC, toHex(500, { size: 3 }), WETH]);
    const swap = encodeAbiParameters(parseAbiParameters("address, uint256, uint256, bytes, bool"), [
      VITALIK,
      1_000_000n,
      3n * 10n ** 14n,
      path,
      true,
    ]);
    const unwrap = encodeAbiParameters(parseAbiParameters("address, uint256"), [VITALIK, 10n ** 14n]);
    const calls = await callsOf(encode("execute", ["0x000c80", [swap, unwrap, "0x"], 1n]));
    expect(calls.map(({ function_name }) => function_name).slice(0, 2)).to.deep.equal([
      "V3_SWAP_EXACT_IN",
      "UNWRAP_WETH",
    ]);
    expect(summariesOf(calls)).to.deep.equal([
      `swap 1 USDC for at least 0.0003 WETH to ${VITALIK}`,
      `unwrap at least 0.0001 WETH (or the chain's own coin, wrapped) for ${VITALIK}`,
      null,
    ]);
    expect(calls[2]?.decoded).to.equal(false);
  });

  it("say nothing of tokens where another contract's code runs on the caller's own storage", async () => {
    const rest = [0n, 0n, 0n, VITALIK, VITALIK, "0x"] as const;
    const [delegated] = await callsOf(encode("execTransaction", [USDC, 0n, TRANSFER, 1, ...rest]));
    expect(delegated).to.include({ delegatecall: true, decoded: true, summary: null });
    const pack = (operation: number): Hex =>
      encodePacked(
        ["uint8", "address", "uint256", "uint256", "bytes"],
        [operation, USDC, 0n, BigInt(TRANSFER.length / 2 - 1), TRANSFER],
      );
    const calls = await callsOf(encode("multiSend", [concatHex([pack(0), pack(1)])]));
    expect(calls.map(({ delegatecall, summary }) => [delegatecall, summary])).to.deep.equal([
      [false, `transfer 1.5 USDC to ${VITALIK}`],
      [true, null],
    ]);
  });

  it("of an account (ERC-7579) are one, several or delegated, as its mode says", async () => {
    const zeros = "00".repeat(31);
    const one = encodePacked(["address", "uint256", "bytes"], [USDC, 0n, TRANSFER]);
    const batch = encodeAbiParameters(parseAbiParameters("(address, uint256, bytes)[]"), [
      [
        [USDC, 0n, TRANSFER],
        [WETH, 5n, "0x"],
      ],
    ]);
    const read = async (kind: string, data: Hex) =>
      (await callsOf(encode("execute", [`0x${kind}${zeros}`, data]))).map(({ target, summary, delegatecall }) => ({
        target,
        summary,
        delegatecall,
      }));
    const transfer = { target: USDC, summary: `transfer 1.5 USDC to ${VITALIK}`, delegatecall: false };
    expect(await read("00", one)).to.deep.equal([transfer]);
    expect(await read("01", batch)).to.deep.equal([transfer, { target: WETH, summary: null, delegatecall: false }]);
    const delegated = { ...transfer, summary: null, delegatecall: true };
    expect(await read("ff", encodePacked(["address", "bytes"], [USDC, TRANSFER]))).to.deep.equal([delegated]);
    for (const [kind, data] of [
      ["00", "0x1234"],
      ["01", one],
      ["fe", one],
    ] as const)
      expect(await read(kind, data), kind).to.deep.equal([]);
  });

  it("have exact amounts, and are unlimited only where they allow spending", async () => {
    const most = 2n ** 256n - 1n;
    const calls = [encode("approve", [VITALIK, most]), encode("transfer", [VITALIK, most]), encode("withdraw", [5n])];
    const [approved, transferred, withdrawn] = await callsOf(encode("multicall", [calls]), USDC);
    expect(approved?.summary).to.equal(`allow ${VITALIK} to spend unlimited USDC`);
    expect(transferred?.summary).to.match(/^transfer \d{72}\.\d{6} USDC to 0x/);
    expect(withdrawn?.summary).to.equal(null); // Only WETH is unwrapped.
    expect(summariesOf(await callsOf(encode("multicall", [calls.slice(2)]), WETH))).to.deep.equal([
      "unwrap 0.000000000000000005 WETH",
    ]);
  });

  it("of the Universal Router name its caller, itself and all that it has, and may have commands inside", async () => {
    const one = `0x${"1".padStart(40, "0")}` as const;
    const two = `0x${"2".padStart(40, "0")}` as const;
    const all = 2n ** 255n;
    const transfer = encodeAbiParameters(parseAbiParameters("address, address, uint256"), [USDC, one, all]);
    const wrap = encodeAbiParameters(parseAbiParameters("address, uint256"), [two, all]);
    const unwrap = encodeAbiParameters(parseAbiParameters("address, uint256"), [one, 10n ** 18n]);
    const inner = encodeAbiParameters(parseAbiParameters("bytes, bytes[]"), ["0x050b", [transfer, wrap]]);
    const [plan, last] = await callsOf(encode("execute", ["0x210c", [inner, unwrap], 1n]));
    expect(summariesOf(plan?.calls ?? [])).to.deep.equal([
      "transfer all USDC of the router to the caller",
      "wrap all ETH (or the chain's own coin) of the router for the router",
    ]);
    expect(last?.summary).to.equal("unwrap at least 1 WETH (or the chain's own coin, wrapped) for the caller");
  });

  it("are at most 100, and ask directories about eight selectors at most, at once: they may be silent for long", async () => {
    const many = Array.from({ length: 300 }, (_, at) => toHex(0xdd000000 + at, { size: 4 }));
    let asked = 0;
    const all = Promise.withResolvers<void>();
    const read = await interpret(Buffer.from(encode("multicall", [many]).slice(10), "hex"), ["multicall(bytes[])"]);
    const decodeCalls = createDecodeCalls(async () => {
      asked++;
      if (asked === 8) all.resolve();
      await all.promise;
      return { signatures: [], verified: 0 };
    });
    const { calls, omitted } = await decodeCalls(read, null);
    expect(calls).to.have.length(100);
    expect(asked).to.equal(8);
    expect(omitted, "the others are not hidden").to.equal(200);
  });

  it("that lie too deep, or behind others that are too many, are counted", async () => {
    const decode = async (data: Hex): Promise<readonly [shown: number, omitted: number]> => {
      const read = await interpret(Buffer.from(data.slice(10), "hex"), ["multicall(bytes[])"]);
      const { calls, omitted } = await createDecodeCalls(async () => ({ signatures: [], verified: 0 }))(read, null);
      return [calls.length, omitted];
    };
    const multicall = (...inner: Hex[]): Hex => encode("multicall", [inner]);
    const many = (count: number): Hex => multicall(...Array.from({ length: count }, () => TRANSFER));
    expect(await decode(many(100))).to.deep.equal([100, 0]);
    expect(await decode(many(101))).to.deep.equal([100, 1]);
    expect(await decode(multicall(multicall(multicall(TRANSFER))))).to.deep.equal([1, 0]);
    expect(await decode(multicall(multicall(multicall(multicall(TRANSFER, TRANSFER)))))).to.deep.equal([1, 2]);
    expect(await decode(multicall(many(120), TRANSFER)), "behind a call that has filled the list").to.deep.equal([
      1, 22,
    ]);
  });

  it("end with their caller", async () => {
    const gone = new Error("gone");
    const read = await interpret(Buffer.from(encode("multicall", [["0xdd000000"]]).slice(10), "hex"), [
      "multicall(bytes[])",
    ]);
    const decodeCalls = createDecodeCalls(() => Promise.reject(gone));
    expect(await decodeCalls(read, null).catch((error: unknown) => error)).to.equal(gone);
  });
});
