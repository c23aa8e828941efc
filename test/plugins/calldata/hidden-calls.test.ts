import { expect } from "chai";
import { concatHex, encodeAbiParameters, encodeFunctionData, encodePacked, type Hex, parseAbi, toHex } from "viem";
import { createDecodeCalls } from "../../../plugins/calldata/calls/calls.ts";
import { interpret } from "../../../plugins/calldata/interpret.ts";
import { callsOf, summariesOf } from "./inner-calls.ts";

const TO = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const DAI = "0x6B175474E89094C44Da98b954EedeAC495271d0F";
const ABI = parseAbi([
  "function transfer(address to, uint256 amount)",
  "function multiSend(bytes transactions)",
  "function multicall(bytes[] data)",
  "function execute(address target, uint256 value, bytes payload, bytes32 predecessor, bytes32 salt)",
  "function executeBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt)",
  "function executeBatch(address[] targets, uint256[] values, bytes[] payloads)",
  "function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation)",
  "function scheduleBatch(address[] targets, uint256[] values, bytes[] payloads, bytes32 predecessor, bytes32 salt, uint256 delay)",
  "function propose(address[] targets, uint256[] values, bytes[] calldatas, string description)",
  "function propose(address[] targets, uint256[] values, string[] signatures, bytes[] calldatas, string description)",
  "function queue(address[] targets, uint256[] values, bytes[] calldatas, bytes32 descriptionHash)",
  "function queueTransaction(address target, uint256 value, string signature, bytes data, uint256 eta)",
  "function upgradeAndCall(address proxy, address implementation, bytes data)",
  "function executeFromExecutor(bytes32 mode, bytes data)",
  "function execTransactionFromModuleReturnData(address to, uint256 value, bytes data, uint8 operation)",
  "function executeUserOp(address to, uint256 value, bytes data, uint8 operation)",
  "function executeUserOpWithErrorString(address to, uint256 value, bytes data, uint8 operation)",
  "function execute(address to, uint256 value, bytes data, uint8 operation)",
  "function increaseAllowance(address spender, uint256 added)",
  "function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)",
  "function permit(address holder, address spender, uint256 nonce, uint256 expiry, bool allowed, uint8 v, bytes32 r, bytes32 s)",
  "function receiveWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function approve(address token, address spender, uint160 amount, uint48 expiration)",
  "function permit(address owner, ((address,uint160,uint48,uint48),address,uint256) permit, bytes signature)",
  "function transferFrom((address,address,uint160,address)[] transfers)",
  "function permitTransferFrom(((address,uint256),uint256,uint256) permit, (address,uint256) details, address owner, bytes signature)",
]);
const ZERO = toHex(0, { size: 32 });
const encode = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: ABI, functionName, args } as never);
const TRANSFER = encode("transfer", [TO, 1_500_000n]);
const TRANSFERRED = `transfer 1.5 USDC to ${TO}`;

describe("calls that are hard to see", () => {
  const head = (target: Hex, value: bigint, length: number): Hex =>
    encodePacked(["uint8", "address", "uint256", "uint256"], [0, target, value, BigInt(length)]);
  const sent = (...parts: Hex[]): ReturnType<typeof callsOf> => callsOf(encode("multiSend", [concatHex(parts)]));
  const first = concatHex([head(USDC, 0n, 68), TRANSFER]);

  it("are seen in a MultiSend of which the contract reads zeros behind the end", async () => {
    const cut = encodePacked(["uint8", "address", "uint256"], [0, TO, 7n]);
    expect((await sent(first, cut)).map(({ target, value_wei }) => [target, value_wei])).to.deep.equal([
      [USDC, "0"],
      [TO, "7"],
    ]);
    const round = encode("transfer", [TO, 2n ** 24n]); // Ends with three zero bytes.
    const calls = await sent(head(USDC, 0n, 68), round.slice(0, -6) as Hex);
    expect(summariesOf(calls)).to.deep.equal([`transfer 16.777216 USDC to ${TO}`]);
    expect(await sent(first, toHex(0, { size: 32 })), "too short to be read").to.have.length(1);
  });

  it("are seen in a MultiSend whose last call says that it is longer than it is", async () => {
    for (const length of [69, 5000, 2 ** 50]) {
      const calls = await sent(first, head(USDC, 0n, length), TRANSFER);
      expect(summariesOf(calls), String(length)).to.deep.equal([TRANSFERRED, TRANSFERRED]);
    }
  });

  it("are seen in batches of batches (ERC-7821), with or without data for the account behind the calls", async () => {
    const types = [
      { type: "tuple[]", components: [{ type: "address" }, { type: "uint256" }, { type: "bytes" }] },
    ] as const;
    const batch = [[USDC, 0n, TRANSFER]] as const;
    const withData = encodeAbiParameters([...types, { type: "bytes" }], [batch, "0x1234"]);
    const all = encodeAbiParameters([{ type: "bytes[]" }], [[encodeAbiParameters(types, [batch]), withData]]);
    const mode = (selector: string): Hex => `0x010000000000${selector}${"00".repeat(22)}`;
    const read = async (selector: string, data: Hex): Promise<unknown[]> =>
      summariesOf(await callsOf(encode("executeFromExecutor", [mode(selector), data])));
    expect(await read("78210001", withData)).to.deep.equal([TRANSFERRED]);
    expect(await read("78210002", all)).to.deep.equal([TRANSFERRED, TRANSFERRED]);
    expect(await read("78210002", "0x1234"), "no batches").to.deep.equal([]);
  });

  it("are seen in timelocks, modules of Safes, and executors of accounts (ERC-7579)", async () => {
    const batch = [[USDC, TO], [0n, 7n], [TRANSFER, "0x"], ZERO, ZERO];
    for (const [name, args] of [
      ["executeBatch", batch],
      ["scheduleBatch", [...batch, 1n]],
    ] as const) {
      const calls = await callsOf(encode(name, args));
      expect(calls.map(({ target, value_wei, summary }) => [target, value_wei, summary])).to.deep.equal([
        [USDC, "0", TRANSFERRED],
        [TO, "7", null],
      ]);
    }
    const single = encodePacked(["address", "uint256", "bytes"], [USDC, 0n, TRANSFER]);
    for (const [name, args] of [
      ["execute", [USDC, 0n, TRANSFER, ZERO, ZERO]],
      ["executeFromExecutor", [ZERO, single]],
      ["execTransactionFromModuleReturnData", [USDC, 0n, TRANSFER, 0]],
    ] as const)
      expect(summariesOf(await callsOf(encode(name, args))), name).to.deep.equal([TRANSFERRED]);
  });

  it("are seen in the proposals of governors, whose functions may be named apart from their arguments", async () => {
    const [named, plain] = [`0x${TRANSFER.slice(10)}`, TRANSFER];
    const text = "transfer(address,uint256)";
    for (const [name, args] of [
      ["propose", [[USDC, TO], [0n, 7n], [plain, "0x"], "Pay"]],
      ["queue", [[USDC, TO], [0n, 7n], [plain, "0x"], ZERO]],
      ["propose", [[USDC, TO], [0n, 7n], [text, ""], [named, "0x"], "Pay"]],
    ] as const) {
      const calls = await callsOf(encode(name, args));
      expect(calls.map(({ target, value_wei, summary }) => [target, value_wei, summary])).to.deep.equal([
        [USDC, "0", TRANSFERRED],
        [TO, "7", null],
      ]);
    }
    for (const [signature, data] of [
      [text, named],
      ["", plain],
    ])
      expect(summariesOf(await callsOf(encode("queueTransaction", [USDC, 0n, signature, data, 1n])))).to.deep.equal([
        TRANSFERRED,
      ]);
    const refused = await callsOf(encode("propose", [[USDC], [0n], [], [plain], "One list is shorter"]));
    expect(refused.map(({ function_name, summary }) => [function_name, summary])).to.deep.equal([["transfer", null]]);
    const [upgrade] = await callsOf(encode("upgradeAndCall", [USDC, TO, TRANSFER]));
    expect(upgrade).to.include({ target: USDC, function_name: "transfer" });
  });

  it("are seen in what accounts do for an operation of ERC-4337, a Safe among them, and accounts of tokens (ERC-6551)", async () => {
    for (const name of ["executeUserOp", "executeUserOpWithErrorString", "execute"]) {
      const [called, delegated] = [0, 1].map((operation) => callsOf(encode(name, [USDC, 7n, TRANSFER, operation])));
      expect(
        (await called)?.map(({ target, value_wei, summary }) => [target, value_wei, summary]),
        name,
      ).to.deep.equal([[USDC, "7", TRANSFERRED]]);
      expect((await delegated)?.[0], name).to.include({ delegatecall: true, summary: null });
    }
    expect(await callsOf(encode("execute", [USDC, 0n, TRANSFER, 2])), "code of a new contract").to.deep.equal([]);
  });

  it("are told in no words where a Safe, a MultiSend or a batch is refused as a whole, so that none of them is run", async () => {
    const odd = encodePacked(["uint8", "address", "uint256", "uint256"], [2, TO, 0n, 0n]);
    const all = [USDC, USDC];
    for (const [what, calls] of [
      ["a Safe's third operation", await callsOf(encode("execTransactionFromModule", [USDC, 0n, TRANSFER, 2]))],
      ["a MultiSend's", await sent(first, odd)],
      ["fewer data than targets", await callsOf(encode("executeBatch", [all, [0n, 0n], [TRANSFER]]))],
      ["more data than targets", await callsOf(encode("executeBatch", [[USDC], [0n], [TRANSFER, TRANSFER]]))],
      ["fewer values than targets", await callsOf(encode("executeBatch", [all, [0n], [TRANSFER, TRANSFER]]))],
      [
        "a timelock's without values",
        await callsOf(encode("scheduleBatch", [all, [], [TRANSFER, TRANSFER], ZERO, ZERO, 1n])),
      ],
    ] as const) {
      expect(calls[0], what).to.include({ target: USDC, function_name: "transfer" });
      expect(summariesOf(calls).filter(Boolean), what).to.deep.equal([]);
    }
    const unpaid = await callsOf(encode("executeBatch", [all, [], [TRANSFER, TRANSFER]]));
    expect(summariesOf(unpaid), "values may be left out").to.deep.equal([TRANSFERRED, TRANSFERRED]);
  });

  it("say in every dialect what they allow", async () => {
    const most = 2n ** 160n - 1n;
    const said = async (target: string, name: string, ...args: readonly unknown[]) =>
      summariesOf(await callsOf(encode("multicall", [[encode(name, args)]]), target))[0];
    expect(await said(USDC, "increaseAllowance", TO, 1_500_000n)).to.equal(`allow ${TO} to spend 1.5 USDC more`);
    expect(await said(USDC, "permit", PERMIT2, TO, 2n ** 256n - 1n, 1n, "0x")).to.equal(
      `allow ${TO} to spend unlimited USDC of ${PERMIT2}`,
    );
    const dai = [PERMIT2, TO, 0n, 0n];
    expect(await said(DAI, "permit", ...dai, true, 27, ZERO, ZERO)).to.equal(
      `allow ${TO} to spend unlimited DAI of ${PERMIT2}`,
    );
    expect(await said(DAI, "permit", ...dai, false, 27, ZERO, ZERO)).to.equal(
      `allow ${TO} to spend 0 DAI of ${PERMIT2}`,
    );
    expect(await said(USDC, "receiveWithAuthorization", PERMIT2, TO, 1_500_000n, 0n, 1n, ZERO, "0x")).to.equal(
      `transfer 1.5 USDC from ${PERMIT2} to ${TO}`,
    );
    const approved = `allow ${TO} to spend unlimited USDC`;
    expect(await said(PERMIT2, "approve", USDC, TO, most, 1)).to.equal(`${approved} through Permit2`);
    expect(await said(TO, "approve", USDC, TO, most, 1), "another contract").to.equal(null);
    expect(await said(PERMIT2, "permit", USDC, [[USDC, most, 1, 0], TO, 1n], "0x")).to.equal(
      `${approved} of ${USDC} through Permit2`,
    );
    expect(await said(PERMIT2, "transferFrom", [[USDC, TO, 1_500_000n, USDC]])).to.equal(
      `transfer 1.5 USDC from ${USDC} to ${TO}`,
    );
    const details = [[[USDC, most], 0n, 1n], [TO, 1_500_000n], DAI, "0x"];
    expect(await said(PERMIT2, "permitTransferFrom", ...details)).to.equal(`transfer 1.5 USDC from ${DAI} to ${TO}`);
  });

  it("are counted as omitted where a batch leads to the same bytes so often that it is not read", async () => {
    const call = concatHex([toHex(1, { size: 32 }), ZERO, toHex(96, { size: 32 }), toHex(20_000, { size: 32 })]);
    const offsets = Array.from({ length: 30 }, () => toHex(30 * 32, { size: 32 }));
    const batch = concatHex([
      toHex(32, { size: 32 }),
      toHex(30, { size: 32 }),
      ...offsets,
      call,
      `0x${"00".repeat(20_000)}`,
    ]);
    const data = encode("executeFromExecutor", [`0x01${"00".repeat(31)}`, batch]);
    const read = await interpret(Buffer.from(data.slice(10), "hex"), ["executeFromExecutor(bytes32,bytes)"]);
    const decodeCalls = createDecodeCalls(() => Promise.reject(new Error("nobody is asked")));
    expect(await decodeCalls(read, null)).to.deep.equal({ calls: [], omitted: 1 });
  });

  it("are counted as omitted behind a call that leads to the same bytes so often that none after it is read", async () => {
    const offsets = Array.from({ length: 30 }, () => toHex(30 * 32, { size: 32 }));
    const item = [toHex(20_000, { size: 32 }), `0x${"00".repeat(20_000)}`] as const;
    const entangled = concatHex(["0xac9650d8", toHex(32, { size: 32 }), toHex(30, { size: 32 }), ...offsets, ...item]);
    const data = encode("multicall", [[entangled, encode("multicall", [[TRANSFER]])]]);
    const decode = async (data: Hex) => {
      const read = await interpret(Buffer.from(data.slice(10), "hex"), ["multicall(bytes[])"]);
      return createDecodeCalls(() => Promise.reject(new Error("nobody is asked")))(read, USDC);
    };
    expect(await decode(entangled)).to.deep.equal({ calls: [], omitted: 1 });
    const bytes = Buffer.from(entangled.slice(10), "hex");
    const { shown } = await interpret(bytes, ["multicall(bytes[])", "registeredByAnybody()"], { verified: 1 });
    expect(shown.decoded, "as a function of no verified contract").to.equal(false);
    const { calls, omitted } = await decode(data);
    expect(calls.map(({ decoded, calls: inside }) => [decoded, inside.length])).to.deep.equal([
      [false, 0],
      [false, 0],
    ]);
    expect(omitted).to.equal(2);
  });

  it("do not multiply from level to level where offsets lead to the same bytes", async () => {
    const nest = (inner: Hex): Hex => {
      const items = Array.from({ length: 7 }, () => toHex(7 * 32, { size: 32 }));
      const item = encodeAbiParameters([{ type: "bytes" }], [inner]).slice(66);
      return concatHex(["0xac9650d8", toHex(32, { size: 32 }), toHex(7, { size: 32 }), ...items, `0x${item}`]);
    };
    const data = nest(nest(nest(concatHex([TRANSFER, `0x${"00".repeat(20_000)}`]))));
    const read = await interpret(Buffer.from(data.slice(10), "hex"), ["multicall(bytes[])"]);
    expect(read.shown.decoded).to.equal(true);
    const { calls } = await createDecodeCalls(() => Promise.reject(new Error("nobody is asked")))(read, null);
    expect(calls[0]?.function_name).to.equal("multicall");
    expect(JSON.stringify(calls)).to.have.length.below(20 * data.length);
  });
});
