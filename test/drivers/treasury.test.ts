import { generateKeyPairSync, type KeyObject, verify } from "node:crypto";
import { inspect } from "node:util";
import { base58 } from "@scure/base";
import { expect } from "chai";
import { recoverMessageAddress } from "viem";
import { createTreasury } from "../../runtime/drivers/treasury.ts";
import { parseEvmKey, parseSolanaKey } from "../../runtime/drivers/treasury-keys.ts";

const EVM_KEY = `0x${"4c".repeat(31)}07`;

/** A key pair made by somebody else's code, in the 64 bytes of solana-keygen. */
function makeSolanaKey(): { bytes: Buffer; address: string; publicKey: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const seed = privateKey.export({ format: "der", type: "pkcs8" }).subarray(-32);
  const open = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  return { bytes: Buffer.concat([seed, open]), address: base58.encode(open), publicKey };
}

describe("the treasury's keys", () => {
  const solana = makeSolanaKey();

  it("are read from base58 and from solana-keygen's JSON, with white space around them", () => {
    expect(parseSolanaKey(`  ${base58.encode(solana.bytes)}\n`).address).to.equal(solana.address);
    expect(parseSolanaKey(`${JSON.stringify([...solana.bytes])}\n`).address).to.equal(solana.address);
    expect(parseEvmKey(` ${EVM_KEY}\n`)).to.equal(EVM_KEY);
  });

  const otherHalf = Buffer.concat([solana.bytes.subarray(0, 32), makeSolanaKey().bytes.subarray(32)]);
  const faulty: [what: string, parse: (text: string) => unknown, text: string, message: string][] = [
    ["nothing", parseEvmKey, "", "An EVM private key is 0x and 64 hex digits; this does not begin with 0x"],
    ["no 0x", parseEvmKey, EVM_KEY.slice(2), "An EVM private key is 0x and 64 hex digits; this does not begin with 0x"],
    [
      "a digit too few",
      parseEvmKey,
      EVM_KEY.slice(0, -1),
      "An EVM private key is 0x and 64 hex digits; this is 0x and 63 digits",
    ],
    [
      "no hex",
      parseEvmKey,
      `0x${"xy".repeat(32)}`,
      "An EVM private key is 0x and 64 hex digits; this is 0x and something that is not hex",
    ],
    ["zero", parseEvmKey, `0x${"00".repeat(32)}`, "This EVM private key is outside the range of secp256k1"],
    [
      "a number too large",
      parseEvmKey,
      `0x${"ff".repeat(32)}`,
      "This EVM private key is outside the range of secp256k1",
    ],
    [
      "a private half alone",
      parseSolanaKey,
      base58.encode(solana.bytes.subarray(0, 32)),
      "A Solana key pair is 64 bytes; this is 32",
    ],
    [
      "halves of two pairs",
      parseSolanaKey,
      base58.encode(otherHalf),
      "The two halves of this Solana key pair do not belong together",
    ],
    [
      "no base58",
      parseSolanaKey,
      "0OIl+/",
      "A Solana key pair is base58 text or a JSON array of 64 bytes; this is neither",
    ],
    ["broken JSON", parseSolanaKey, "[1, 2,", "This Solana key pair begins as a JSON array, but is no valid JSON"],
    [
      "a number that is no byte",
      parseSolanaKey,
      "[1, 256]",
      "A Solana key pair in JSON is an array of bytes, from 0 to 255",
    ],
  ];
  for (const [what, parse, text, message] of faulty)
    it(`say what is wrong with ${what}, and do not repeat it`, () => {
      expect(() => parse(text))
        .to.throw(RangeError)
        .with.property("message", message);
    });
});

describe("the treasury", () => {
  const solana = makeSolanaKey();
  const secret = base58.encode(solana.bytes);
  const treasury = createTreasury({ evmKey: EVM_KEY, solanaKey: secret });

  it("signs texts that anybody can trace to its EVM address", async () => {
    const address = await treasury.evmAddress();
    const signature = await treasury.signMessage("payphone/roll/v1 ✓");
    expect(await recoverMessageAddress({ message: "payphone/roll/v1 ✓", signature })).to.equal(address);
  });

  it("signs Solana messages that its Solana address verifies", () => {
    const message = Buffer.from("a message");
    expect(treasury.solanaAddress).to.equal(solana.address);
    expect(verify(null, message, solana.publicKey, treasury.signSolana(message))).to.equal(true);
  });

  it("shows no private key to util.inspect, to JSON or in its members", async () => {
    const faces = [treasury, await treasury.evmAccount(), parseSolanaKey(secret)];
    for (const face of faces) {
      const shown = `${inspect(face, { depth: 9, showHidden: true })} ${JSON.stringify(face)} ${Object.values(face).map(String)}`;
      for (const key of [
        EVM_KEY.slice(2),
        secret,
        solana.bytes.toString("hex"),
        solana.bytes.subarray(0, 32).toString("hex"),
      ])
        expect(shown).not.to.include(key);
    }
  });
});
