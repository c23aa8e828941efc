import { expect } from "chai";
import { encodeFunctionData, parseAbi } from "viem";
import calldata from "../../../plugins/calldata/index.ts";
import { breaks, hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";
import { createWorldClock } from "../../support/world/clock.ts";
import { openFourbyte, openOpenchain } from "../../support/world/directories.ts";
import { askForPause } from "../../support/world/manners.ts";
import type { WorldSource } from "../../support/world/source.ts";
import { createHost, problemOf, type Reach, type Serve, serve } from "../host.ts";

const TRANSFER = "transfer(address,uint256)";
const SPAM = "join_tg_invmru_haha_fd06787(address,bool)"; // Of the same selector.
const DECOY = "workMyDirefulOwner(uint256,uint256)"; // Of the same selector.
const NAMED = "WRAP_ETH(address,uint256)";
const BATCH = "performAll(bytes[])";
const TO = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const TRANSFERRED = encodeFunctionData({
  abi: parseAbi([`function ${TRANSFER}`]),
  args: [TO, 5n],
});
const ONLY_4BYTE = encodeFunctionData({ abi: parseAbi([`function ${BATCH}`]), args: [["0x01"]] });
const MULTICALL = encodeFunctionData({
  abi: parseAbi(["function multicall(bytes[])"]),
  args: [[ONLY_4BYTE, TRANSFERRED, ONLY_4BYTE]],
});

/** What a directory can give instead of an answer. */
const FAULTS: Readonly<Record<string, Line>> = {
  "status 503": 503,
  "a request for a pause": askForPause(60),
  "status 403": 403,
  "a page of HTML": "<html>Just a moment...</html>",
  "half of an answer": '{"ok":true,"result":{"function":{',
  "an answer that is not ok": '{"ok":false,"error":"overloaded","results":"none"}',
  "an answer without the selector": '{"ok":true,"result":{"function":{}},"results":null}',
  "a broken connection": breaks,
};
/** Each costs a second. */
const PAUSES: Readonly<Record<string, Line>> = { "no answer": hangs, "the beginning of an answer": stalls };

describe("calldata, and directories as they are in the world", () => {
  let openchain: WorldSource;
  let fourbyte: WorldSource;
  let ask: Serve;
  beforeEach(async () => {
    const clock = createWorldClock();
    openchain = await openOpenchain({
      clock,
      signatures: [DECOY, SPAM, TRANSFER, NAMED, "multicall(bytes[])"],
      verified: [TRANSFER],
    });
    fourbyte = await openFourbyte({ clock, signatures: [TRANSFER, SPAM, DECOY, BATCH, "multicall(bytes[])"] });
    ask = await start();
  });
  afterEach(() => Promise.all([openchain.close(), fourbyte.close()]));
  const start = (reach: Reach = {}): Promise<Serve> =>
    serve(
      "decode_calldata",
      calldata,
      createHost({}, { urls: { openchain: openchain.url, fourbyte: fourbyte.url }, ...reach }),
    );
  const decode = (calldata_hex: string) => ask({ chain: "ethereum", calldata_hex });

  it("is decoded by Openchain alone where Openchain knows the selector", async () => {
    expect(await decode(TRANSFERRED)).to.deep.include({
      source: "openchain",
      function_signature: TRANSFER,
      canonical: true,
      candidates: [DECOY, SPAM],
    });
    expect(fourbyte.asked).to.deep.equal([]);
  });

  it("is not told in words where a contract has named its own function as a command of the Universal Router", async () => {
    const data = encodeFunctionData({ abi: parseAbi([`function ${NAMED}`]), args: [TO, 10n ** 18n] });
    const inside = encodeFunctionData({ abi: parseAbi(["function multicall(bytes[])"]), args: [[data]] });
    expect(await decode(data)).to.include({ function_signature: NAMED, canonical: true, summary: null });
    const { calls } = await decode(inside);
    expect(calls).to.have.nested.property("[0].function_signature", NAMED);
    expect(calls).to.have.nested.property("[0].summary", null);
  });

  it("is told in words however the contract's address is written", async () => {
    const data = encodeFunctionData({ abi: parseAbi(["function multicall(bytes[])"]), args: [[TRANSFERRED]] });
    for (const contract_address of [USDC, USDC.toLowerCase(), USDC.toUpperCase()]) {
      const { calls } = await ask({ chain: "ethereum", calldata_hex: data, contract_address });
      expect(calls).to.have.nested.property("[0].target", USDC);
      expect(calls).to.have.nested.property("[0].summary", `transfer 0.000005 USDC to ${TO}`);
    }
  });

  it("is decoded by a verified contract's function, though a registered signature was made to fit exactly", async () => {
    // The upper bytes of the address are not zeros. Tokens of older compilers ignore them.
    const dirty = TRANSFERRED.replace("0xa9059cbb00", "0xa9059cbb01");
    expect(await decode(dirty)).to.deep.include({
      function_signature: TRANSFER,
      canonical: false,
      candidates: [DECOY, SPAM],
    });
    openchain.behave({ fault: () => 503 });
    ask = await start();
    expect(await decode(dirty), "4byte knows of no contracts").to.include({
      function_signature: DECOY,
      canonical: true,
    });
  });

  for (const [what, line] of Object.entries({ ...FAULTS, ...PAUSES })) {
    const silence = (silent: string): Reach =>
      what in PAUSES ? { timeoutMs: (id) => (id === silent ? 200 : 60_000), retries: 0 } : {};

    it(`is decoded by 4byte where Openchain gives ${what}`, async () => {
      ask = await start(silence("openchain"));
      openchain.behave({ fault: () => line });
      expect(await decode(TRANSFERRED)).to.include({ source: "4byte", function_signature: TRANSFER, canonical: true });
    });

    it(`fails, and is not called unknown, where Openchain knows nothing and 4byte gives ${what}`, async () => {
      ask = await start(silence("fourbyte"));
      fourbyte.behave({ fault: () => line });
      expect((await problemOf(decode(ONLY_4BYTE))).code).to.equal("upstream-failed");
      expect(await decode(TRANSFERRED)).to.include({ source: "openchain", function_signature: TRANSFER });
    });

    it(`fails where both directories give ${what}`, async () => {
      ask = await start(what in PAUSES ? { timeoutMs: 200, retries: 0 } : {});
      for (const directory of [openchain, fourbyte]) directory.behave({ fault: () => line });
      expect((await problemOf(decode(TRANSFERRED))).code).to.equal("upstream-failed");
    });
  }

  it("says after which time a busy directory can be asked again", async () => {
    for (const directory of [openchain, fourbyte])
      directory.behave({ rate: { perSecond: 0, burst: 0 }, refusal: askForPause(45) });
    expect((await problemOf(decode(TRANSFERRED))).options.retryAfter).to.equal(45);
  });

  it("is decoded all the same where only the first request meets a limit", async () => {
    openchain.behave({ fault: ({ times }) => (times === 0 ? { status: 429, body: "" } : undefined) });
    expect(await decode(TRANSFERRED)).to.include({ source: "openchain", function_signature: TRANSFER });
  });

  it("keeps inner calls undecoded while directories fail, and decodes them when they answer again", async () => {
    for (const directory of [openchain, fourbyte])
      directory.behave({ fault: ({ query }) => (isAbout(query, ONLY_4BYTE) ? 503 : undefined) });
    const read = async () => ((await decode(MULTICALL)).calls as { decoded: boolean }[]).map(({ decoded }) => decoded);
    expect(await read()).to.deep.equal([false, true, false]);
    for (const directory of [openchain, fourbyte]) directory.behave({});
    expect(await read()).to.deep.equal([true, true, true]);
  });
});

const isAbout = (query: URLSearchParams, data: string): boolean => [...query.values()].includes(data.slice(0, 10));
