import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { base58 } from "@scure/base";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import attest from "../../plugins/attest/index.ts";
import { type Hex, Problem } from "../../runtime/api/plugin.ts";
import {
  createHost,
  faultsOf,
  NOW,
  problemOf,
  readManifest,
  type Serve,
  serve,
  TREASURY,
  toTransaction,
} from "./host.ts";

const INPUT = "9F86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const OUTPUT = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
const STATEMENT = { input_hash: INPUT, output_hash: OUTPUT, decision: "approved" };
const MESSAGE = `payphone/attest/v1\ninput=${INPUT.toLowerCase()}\noutput=${OUTPUT}\ndecision=approved`;
const ROOT = createHash("sha256").update(MESSAGE).digest("hex");
const TX = `0x${"c0".repeat(32)}` as Hex;

const caller = privateKeyToAccount(generatePrivateKey());
const solana = generateKeyPairSync("ed25519");
const SOLANA_KEY = base58.encode(solana.publicKey.export({ format: "der", type: "spki" }).subarray(12));
const bySolana = (message: string): string => base58.encode(sign(null, Buffer.from(message), solana.privateKey));

describe("an attestation", () => {
  let host: ReturnType<typeof createHost>;
  let ask: Serve;
  let check: Serve;
  beforeEach(async () => {
    host = createHost();
    ask = await serve("attest", attest, host);
    check = await serve("attest_verify", attest, host);
  });

  it("anchors SHA-256 of the four documented lines", async () => {
    expect((await ask(STATEMENT)).merkle_root).to.equal(ROOT);
    expect([...host.chain.values()].map(({ input }) => input)).to.deep.equal([`0x${ROOT}`]);
  });

  it("is signed by the treasury when the caller gives no signature", async () => {
    const receipt = await ask({ ...STATEMENT, scheme: "ed25519", signature: null, signer_pubkey: SOLANA_KEY });
    expect(receipt).to.include({
      signer_verified: true,
      signer: TREASURY.address,
      signed_by: "treasury",
      scheme: "eip191",
      signature: await TREASURY.signMessage({ message: MESSAGE }),
      signer_pubkey: null,
      signed_at: NOW / 1000,
      decision: "approved",
      verify_url: "https://pay.test/v1/attest/verify",
    });
  });

  it("recovers the caller's address from an eip191 signature, whatever signer_pubkey says", async () => {
    const signature = await caller.signMessage({ message: MESSAGE });
    const receipt = await ask({ ...STATEMENT, scheme: "eip191", signature, signer_pubkey: "ignored" });
    expect(receipt).to.include({
      signer: caller.address,
      signed_by: "caller",
      signer_verified: true,
      signer_pubkey: null,
    });
  });

  it("verifies an ed25519 signature with the given public key", async () => {
    const receipt = await ask({
      ...STATEMENT,
      scheme: "ed25519",
      signature: bySolana(MESSAGE),
      signer_pubkey: SOLANA_KEY,
    });
    expect(receipt).to.include({ signer: SOLANA_KEY, signed_by: "caller", signer_pubkey: SOLANA_KEY });
  });

  const verified: Record<string, () => Promise<object>> = {
    "the treasury's": async () => STATEMENT,
    "an eip191": async () => ({
      ...STATEMENT,
      scheme: "eip191",
      signature: await caller.signMessage({ message: MESSAGE }),
    }),
    "an ed25519": async () => ({
      ...STATEMENT,
      scheme: "ed25519",
      signature: bySolana(MESSAGE),
      signer_pubkey: SOLANA_KEY,
    }),
    "a multi-line decision's": async () => ({ ...STATEMENT, decision: "a\ndecision=b €" }),
  };
  for (const [name, input] of Object.entries(verified))
    it(`verifies again when ${name} receipt is posted as it is`, async () => {
      const receipt = await ask(await input());
      expect(await check(receipt)).to.deep.include({
        valid: true,
        merkle_root: receipt.merkle_root,
        signature_valid: true,
        signer: receipt.signer,
        anchor_confirmed: true,
        root_matches: true,
        anchored_at_block: 41,
        anchored_at_time: NOW / 1000 + 2,
      });
    });

  const forged: Record<string, () => Promise<object>> = {
    "no hex": async () => ({ scheme: "eip191", signature: "not hex" }),
    empty: async () => ({ scheme: "eip191", signature: "" }),
    "64 bytes long": async () => ({ scheme: "eip191", signature: `0x${"11".repeat(64)}` }),
    "no point of the curve": async () => ({ scheme: "eip191", signature: `0x${"ff".repeat(64)}1b` }),
    "of an unknown recovery id": async () => ({ scheme: "eip191", signature: `0x${"11".repeat(64)}63` }),
    "another signer's than the named one": async () => ({
      scheme: "eip191",
      signature: await caller.signMessage({ message: MESSAGE }),
      signer: TREASURY.address,
    }),
    "an eip191 one with a signer that is no address": async () => ({
      scheme: "eip191",
      signature: await caller.signMessage({ message: MESSAGE }),
      signer: "0x1234",
    }),
    "an ed25519 one over other text": async () => ({
      scheme: "ed25519",
      signature: bySolana(`${MESSAGE}\n`),
      signer_pubkey: SOLANA_KEY,
    }),
    "an ed25519 one in hex": async () => ({
      scheme: "ed25519",
      signature: sign(null, Buffer.from(MESSAGE), solana.privateKey).toString("hex"),
      signer_pubkey: SOLANA_KEY,
    }),
    "an ed25519 one with a key of 31 bytes": async () => ({
      scheme: "ed25519",
      signature: bySolana(MESSAGE),
      signer_pubkey: base58.encode(Buffer.alloc(31, 7)),
    }),
    "an ed25519 one of another signer than the named one": async () => ({
      scheme: "ed25519",
      signature: bySolana(MESSAGE),
      signer_pubkey: SOLANA_KEY,
      signer: base58.encode(Buffer.alloc(32, 7)),
    }),
  };
  for (const [name, claim] of Object.entries(forged))
    it(`is refused, and nothing anchored, when the signature is ${name}`, async () => {
      const problem = await problemOf(ask({ ...STATEMENT, ...(await claim()) }));
      expect(problem.code).to.equal("signature-invalid");
      expect(problem.toJSON()).to.include({ status: 400, message: MESSAGE });
      expect(host.chain.size).to.equal(0);
    });

  it("names every missing field of a signature, and text that has no UTF-8 form", async () => {
    const signature = bySolana(MESSAGE);
    expect(await faultsOf(ask({ ...STATEMENT, signature, decision: "\udc00" }))).to.deep.equal([
      "body.decision: Value error, decision must be well-formed Unicode: it holds a lone surrogate",
      "body.scheme: Value error, scheme is required with a signature: eip191 or ed25519",
    ]);
    const missing = ["body.signer_pubkey: Value error, signer_pubkey is required for ed25519: the Solana public key"];
    expect(await faultsOf(ask({ ...STATEMENT, scheme: "ed25519", signature }))).to.deep.equal(missing);
    expect(await faultsOf(check({ ...STATEMENT, scheme: "ed25519", signature, base_tx: TX }))).to.deep.equal(missing);
  });

  it("takes a named smart account's signature, in the receipt and in its verification", async () => {
    const account = `0x${"5c".repeat(20)}` as Hex;
    const signature = `0x${"ab".repeat(97)}`;
    const asked: unknown[] = [];
    const verifyMessage = async (...args: readonly unknown[]) => asked.push(args.slice(0, 3)) > 0;
    const smart = { ...host, evm: { ...host.evm, verifyMessage } };
    const claim = { ...STATEMENT, scheme: "eip191", signature, signer: account };
    const receipt = await (await serve("attest", attest, smart))(claim);
    expect(receipt).to.include({ signer: account, signed_by: "caller" });
    expect(await (await serve("attest_verify", attest, smart))(receipt)).to.include({ valid: true, signer: account });
    expect(asked).to.deep.equal([
      [account, MESSAGE, signature],
      [account, MESSAGE, signature],
    ]);
  });

  it("does not take hashes of another form, or a decision of 65 characters", async () => {
    for (const wrong of [{ input_hash: `0x${INPUT}` }, { output_hash: "ab" }, { decision: "x".repeat(65) }])
      expect((await problemOf(ask({ ...STATEMENT, ...wrong }))).code).to.equal("invalid-input");
    expect(await ask({ ...STATEMENT, decision: "😀".repeat(64) })).to.have.property("decision", "😀".repeat(64));
  });

  it("fails as the Base chain fails", async () => {
    const write = async () => {
      throw new Problem("upstream-failed");
    };
    ask = await serve("attest", attest, createHost({ anchor: { ready: async () => {}, write } }));
    expect((await problemOf(ask(STATEMENT))).code).to.equal("upstream-failed");
  });

  it("answers its manifest's examples", async () => {
    for (const { input } of readManifest("attest").examples) expect(await ask(input)).to.have.property("base_tx");
    for (const { input } of readManifest("attest_verify").examples)
      expect(await check(input)).to.include({ signature_valid: true, anchor_confirmed: false, valid: false });
  });
});

describe("the verification of an attestation", () => {
  let host: ReturnType<typeof createHost>;
  let check: Serve;
  let receipt: Record<string, unknown>;
  beforeEach(async () => {
    host = createHost();
    check = await serve("attest_verify", attest, host);
    receipt = await (await serve("attest", attest, host))(STATEMENT);
  });

  it("sees through a changed field: the root differs, and so does the signer", async () => {
    for (const changed of [{ decision: "denied" }, { input_hash: OUTPUT }, { output_hash: INPUT }])
      expect(await check({ ...receipt, ...changed })).to.include({
        valid: false,
        signature_valid: false,
        anchor_confirmed: true,
        root_matches: false,
      });
  });

  it("says who signed when the receipt names nobody, and it is for the reader to compare", async () => {
    const { signer: _, ...nameless } = receipt;
    const signature = await caller.signMessage({ message: MESSAGE });
    expect(await check({ ...nameless, signature })).to.include({ valid: true, signer: caller.address });
    const notes = `The signature is not ${TREASURY.address}'s.`;
    const swapped = await check({ ...receipt, signature });
    expect(swapped).to.include({ valid: false, signature_valid: false, root_matches: true, signer: caller.address });
    expect(swapped.notes).to.contain(notes);
  });

  it("says unknown when no signer can be recovered", async () => {
    const { signer: _, ...nameless } = receipt;
    for (const signature of ["junk", `0x${"ff".repeat(64)}1c`, "1".repeat(16_384)])
      expect(await check({ ...nameless, signature })).to.include({
        valid: false,
        signature_valid: false,
        signer: "unknown",
      });
  });

  const chains: Record<string, { put?: Parameters<typeof toTransaction>; flags: object; notes: string }> = {
    "a transaction that the chain does not hold": {
      flags: { anchor_confirmed: false, root_matches: false, anchored_at_block: null, anchored_at_time: null },
      notes: "does not hold",
    },
    "a reverted transaction": {
      put: [TX, `0x${ROOT}`, "reverted"],
      flags: { anchor_confirmed: false, root_matches: true, anchored_at_block: null, anchored_at_time: null },
      notes: "reverted",
    },
    "a transaction without calldata": {
      put: [TX, "0x"],
      flags: { anchor_confirmed: false, root_matches: false, anchored_at_block: null },
      notes: "no anchor",
    },
    "a transaction that holds more than the root": {
      put: [TX, `0x${ROOT}00`],
      flags: { anchor_confirmed: false, root_matches: false, anchored_at_block: null },
      notes: "no anchor",
    },
    "the anchor of another root": {
      put: [TX, `0x${"0".repeat(64)}`],
      flags: { anchor_confirmed: true, root_matches: false, anchored_at_block: 41 },
      notes: "another root",
    },
  };
  for (const [name, { put, flags, notes }] of Object.entries(chains))
    it(`is not valid with ${name}`, async () => {
      if (put) host.chain.set(TX, toTransaction(...put));
      const answer = await check({ ...receipt, base_tx: TX });
      expect(answer).to.include({ valid: false, signature_valid: true, ...flags });
      expect(answer.notes).to.contain(notes);
    });

  it("takes an anchor that any account sent", async () => {
    const from = caller.address;
    host.chain.set(TX, { ...toTransaction(TX, `0x${ROOT.toUpperCase()}`), from });
    const answer = await check({ ...receipt, base_tx: TX });
    expect(answer).to.include({ valid: true });
    expect(answer.notes).to.contain(from);
  });

  it("does not call a receipt invalid while the chain cannot be read", async () => {
    const transaction = async () => {
      throw new Problem("upstream-failed");
    };
    check = await serve("attest_verify", attest, { ...host, evm: { ...host.evm, transaction } });
    expect((await problemOf(check(receipt))).code).to.equal("upstream-failed");
  });

  it("does not take a base_tx that is no transaction hash", async () => {
    for (const base_tx of ["", "0x12", TX.slice(2), `${TX}0`])
      expect((await problemOf(check({ ...receipt, base_tx }))).code).to.equal("invalid-input");
  });
});
