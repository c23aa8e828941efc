import { expect } from "chai";
import calldata from "../../../plugins/calldata/index.ts";
import { createHost, faultsOf, problemOf, type Serve, serve } from "../host.ts";

describe("calldata", () => {
  const ask = async (calldata_hex: string, chain = "ethereum"): ReturnType<Serve> =>
    (await serve("decode_calldata", calldata, createHost()))({ chain, calldata_hex });

  it("is refused with status 400 on Solana, before anybody is asked", async () => {
    const { code, status } = await problemOf(ask("no calldata", "solana"));
    expect([code, status]).to.deep.equal(["unparseable-input", 400]);
  });

  const BYTES = 131_072;
  const refused: Record<string, [calldata_hex: string, fault: string]> = {
    "what is too short": ["a9059cb", "String should have at least 8 characters"],
    "a prefix and three bytes": [
      "0xa9059c",
      "Value error, calldata_hex must hold a selector: 4 bytes, 8 hexadecimal digits",
    ],
    "half a byte": ["0xa9059cbb0", "Value error, calldata_hex must be whole bytes: it has an odd number of digits"],
    "other characters": ["0xa9059cbg", "Value error, calldata_hex must be hexadecimal, with or without 0x"],
    "a prefix twice": ["0x0xa9059cbb", "Value error, calldata_hex must be hexadecimal, with or without 0x"],
    "a line's end": ["0xa9059cbb\n", "Value error, calldata_hex must be hexadecimal, with or without 0x"],
    "more than 128 KB": [`0x${"ab".repeat(BYTES + 1)}`, "String should have at most 262146 characters"],
  };
  for (const [name, [calldata_hex, fault]] of Object.entries(refused))
    it(`does not take ${name}`, async () => {
      expect(await faultsOf(ask(calldata_hex))).to.deep.equal([`body.calldata_hex: ${fault}`]);
    });

  it("is not sent back when it is refused: a refusal stays short", async () => {
    const { options } = await problemOf(ask("x".repeat(200_000)));
    expect(JSON.stringify(options.issues)).to.have.length.below(1000);
  });
});
