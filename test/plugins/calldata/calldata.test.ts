import { expect } from "chai";
import { encodeAbiParameters, encodeFunctionData, parseAbi } from "viem";
import calldata from "../../../plugins/calldata/index.ts";
import { eventually } from "../../support/eventually.ts";
import { offline, type Replay, replay, replayAlways } from "../../support/sources/replay.ts";
import { createProcesses, type Processes, problemOf, type Serve } from "../host.ts";

const OPENCHAIN = "https://api.4byte.sourcify.dev/signature-database/v1";
const FOURBYTE = "https://www.4byte.directory/api/v1";
const LOOKUP = "plugins/calldata/recordings/openchain/lookup.json";
const SIGNATURES = "plugins/calldata/recordings/fourbyte/signatures.json";

const VITALIK = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const WETH = "0x4200000000000000000000000000000000000006";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const ABI = parseAbi([
  "function transfer(address to, uint256 amount)",
  "function setApprovalForAll(address operator, bool approved)",
  "function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params)",
]);
const TRANSFER = encodeFunctionData({ abi: ABI, functionName: "transfer", args: [VITALIK, 10n ** 18n] });
/** Nobody's function. */
const UNKNOWN = "0x12345678";
const MINUTE_MS = 60_000;
/** What is said of a call that cannot be decoded, besides its selector and the candidates. */
const UNDECODED = {
  function_name: null,
  function_signature: null,
  params: [],
  decoded: false,
  canonical: null,
  summary: null,
  calls: [],
  calls_omitted: 0,
  source: "openchain",
};

describe("a call's data", () => {
  offline();
  let processes: Processes;
  beforeEach(() => {
    processes = createProcesses("decode_calldata", calldata);
  });
  const start: Processes["start"] = (reach) => processes.start(reach);
  const openchain = (...cases: string[]): Replay => replay(OPENCHAIN, LOOKUP, cases);
  const fourbyte = (...cases: string[]): Replay => replay(FOURBYTE, SIGNATURES, cases);
  const ask = async (calldata_hex: string): ReturnType<Serve> => (await start())({ chain: "ethereum", calldata_hex });

  it("may come without 0x, with 0X and in capitals", async () => {
    replayAlways(OPENCHAIN, LOOKUP, ["success:transfer"]);
    for (const text of [TRANSFER.slice(2).toUpperCase(), TRANSFER.toUpperCase()])
      expect(await ask(text)).to.include({ function_selector: "0xa9059cbb", decoded: true });
  });

  it("shows a tuple as an array of its values", async () => {
    openchain("success:tuple");
    const params = { tokenIn: WETH, tokenOut: USDC, fee: 500, recipient: VITALIK } as const;
    const amounts = { amountIn: 10n ** 18n, amountOutMinimum: 2_000_000_000n, sqrtPriceLimitX96: 0n };
    const data = encodeFunctionData({ abi: ABI, functionName: "exactInputSingle", args: [{ ...params, ...amounts }] });
    const { params: shown } = await ask(data);
    const type = "(address,address,uint24,address,uint256,uint256,uint160)";
    const value = [WETH, USDC, 500, VITALIK, "1000000000000000000", 2_000_000_000, 0];
    expect(shown).to.deep.equal([{ name: null, type, value }]);
  });

  it("is decoded by the function of a verified contract, though spam is listed before it and fits as well", async () => {
    openchain("success:spam");
    const data = encodeFunctionData({ abi: ABI, functionName: "setApprovalForAll", args: [VITALIK, true] });
    expect(await ask(data)).to.deep.include({
      function_signature: "setApprovalForAll(address,bool)",
      candidates: ["niceFunctionHerePlzClick943230089(address,bool)"],
    });
  });

  it("is decoded by 4byte's oldest signature that fits when Openchain fails, though spam fits as well", async () => {
    for (const failure of ["error", "rate-limit", "malformed"]) {
      processes = createProcesses("decode_calldata", calldata);
      openchain(failure);
      fourbyte("success");
      // An amount of 1 is also true: join_tg_invmru_haha_fd06787(address,bool) has this very encoding.
      const data = encodeFunctionData({ abi: ABI, functionName: "transfer", args: [VITALIK, 1n] });
      const { source, function_signature, candidates } = await ask(data);
      expect([source, function_signature], failure).to.deep.equal(["4byte", "transfer(address,uint256)"]);
      expect(candidates).to.deep.equal([
        "many_msg_babbage(bytes1)",
        "transfer(bytes4[9],bytes5[6],int48[11])",
        "func_2093253501(bytes)",
        "join_tg_invmru_haha_fd06787(address,bool)",
        "workMyDirefulOwner(uint256,uint256)",
      ]);
    }
  });

  it("is decoded by the signature that it is the exact encoding of, before one that leaves bytes unread", async () => {
    openchain("error");
    fourbyte("success");
    const exact = encodeAbiParameters([{ type: "bytes" }], ["0x01020304"]).slice(2);
    expect(await ask(`0xa9059cbb${exact}`)).to.include({ function_signature: "func_2093253501(bytes)" });
  });

  it("may have more bytes behind it", async () => {
    openchain("success:transfer");
    expect(await ask(`${TRANSFER}c0ffee`)).to.deep.include({ decoded: true, function_name: "transfer" });
  });

  it("is not decoded when it is cut off, and lists the signatures that its selector has", async () => {
    openchain("success:transfer");
    const serve = await start();
    for (const cut of [TRANSFER.slice(0, 10), TRANSFER.slice(0, -2), `${TRANSFER.slice(0, 10)}${"0".repeat(64)}`])
      expect(await serve({ chain: "ethereum", calldata_hex: cut })).to.deep.equal({
        ...UNDECODED,
        function_selector: "0xa9059cbb",
        candidates: ["transfer(address,uint256)"],
      });
  });

  it("is not decoded when neither directory knows its selector", async () => {
    const asked = [openchain("empty"), fourbyte("empty")];
    expect(await ask(UNKNOWN)).to.deep.equal({ ...UNDECODED, function_selector: UNKNOWN, candidates: [] });
    for (const one of asked) one.assertDone();
  });

  it("is a failure upstream when both directories fail, with the time after which Openchain can be asked again", async () => {
    openchain("rate-limit");
    fourbyte("rate-limit");
    const { code, message, options } = await problemOf(ask(TRANSFER));
    expect([code, options.retryAfter]).to.deep.equal(["upstream-failed", 30]);
    expect(message).to.match(/^Openchain /);
  });

  it("is a failure upstream, and not unknown, when one directory fails and the other knows nothing", async () => {
    openchain("empty");
    fourbyte("error:unknown");
    expect((await problemOf(ask(UNKNOWN))).message).to.match(/^4byte\.directory /);
    openchain("error:unknown");
    fourbyte("empty");
    const { code, message } = await problemOf(ask(UNKNOWN));
    expect(code).to.equal("upstream-failed");
    expect(message).to.match(/^Openchain /);
  });

  it("is not kept waiting by slow directories", async () => {
    openchain("slow");
    fourbyte("slow");
    const serve = await start({ timeoutMs: 50 });
    const { code } = await problemOf(serve({ chain: "ethereum", calldata_hex: TRANSFER }));
    expect(code).to.equal("upstream-failed");
  });

  it("asks no second directory for a caller who has left", async () => {
    const first = openchain("slow");
    const asked = fourbyte("success");
    const serve = await start();
    const leaving = new AbortController();
    const left = serve({ chain: "ethereum", calldata_hex: TRANSFER }, { signal: leaving.signal }).catch(String);
    await eventually(() => first.asked.length === 1);
    leaving.abort("gone");
    expect(await left).to.equal("gone");
    expect(asked.asked).to.deep.equal([]);
  });

  it("costs one request to a directory when 300 ask about one selector at once, and none for a day after", async () => {
    const asked = replayAlways(OPENCHAIN, LOOKUP, ["success:transfer"]);
    const serve = await start();
    const many = Array.from({ length: 300 }, (_, index) =>
      encodeFunctionData({ abi: ABI, functionName: "transfer", args: [VITALIK, BigInt(index)] }),
    );
    const answers = await Promise.all(many.map((calldata_hex) => serve({ chain: "ethereum", calldata_hex })));
    const amounts = answers.map(({ params }) => (params as { value: unknown }[])[1]?.value);
    expect(amounts).to.deep.equal(many.map((_, index) => index));
    processes.now += 24 * 60 * MINUTE_MS - 1;
    await ask(TRANSFER);
    expect(asked.asked, "another process on the same store").to.have.length(1);
    processes.now += 1;
    await ask(TRANSFER);
    expect(asked.asked).to.have.length(2);
  });

  it("is looked up again after ten minutes when nobody knew its selector, or 4byte alone did", async () => {
    const unknown = [replayAlways(OPENCHAIN, LOOKUP, ["empty"]), replayAlways(FOURBYTE, SIGNATURES, ["empty"])];
    const failing = replayAlways(OPENCHAIN, LOOKUP, ["error"]);
    const known = replayAlways(FOURBYTE, SIGNATURES, ["success"]);
    for (const round of [1, 1, 2]) {
      if (round === 2) processes.now += 10 * MINUTE_MS;
      await ask(UNKNOWN);
      await ask(TRANSFER);
      for (const { asked } of [...unknown, failing, known]) expect(asked).to.have.length(round);
    }
  });

  it("takes 128 KB, and reads all of it", async () => {
    openchain("success:transfer");
    const { decoded } = await ask(`${TRANSFER}${"00".repeat(131_072 - 68)}`);
    expect(decoded).to.equal(true);
  });
});
