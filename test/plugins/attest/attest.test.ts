import { generateKeyPairSync, sign } from "node:crypto";
import { base58 } from "@scure/base";
import { expect } from "chai";
import { getAddress } from "viem";
import attest from "../../../plugins/attest/index.ts";
import { type Hex, Problem } from "../../../runtime/api/plugin.ts";
import { createHost, faultsOf, NOW, problemOf, type Serve, serve, TREASURY } from "../host.ts";
import { caller, INPUT, MESSAGE, ROOT, STATEMENT, TX } from "./statement.ts";

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

  const forged: Record<string, () => Promise<{ readonly signature: string; readonly signer?: string }>> = {
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
      const claimed = await claim();
      const problem = await problemOf(ask({ ...STATEMENT, ...claimed }));
      const fault = claimed.signer === undefined ? "does not verify" : `is not ${claimed.signer}'s`;
      expect(problem).to.include({
        code: "signature-invalid",
        message: `The signature over the text in \`message\` ${fault}`,
      });
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
    const signer = getAddress(account);
    expect(receipt).to.include({ signer, signed_by: "caller" });
    expect(await (await serve("attest_verify", attest, smart))(receipt)).to.include({ valid: true, signer });
    expect(asked).to.deep.equal([
      [account, MESSAGE, signature],
      [signer, MESSAGE, signature],
    ]);
  });

  it("does not take hashes of another form, or a decision of 65 characters", async () => {
    for (const wrong of [{ input_hash: `0x${INPUT}` }, { output_hash: "ab" }, { decision: "x".repeat(65) }])
      expect((await problemOf(ask({ ...STATEMENT, ...wrong }))).code).to.equal("invalid-input");
    expect(await ask({ ...STATEMENT, decision: "😀".repeat(64) })).to.have.property("decision", "😀".repeat(64));
  });

  it("anchors what was signed, though the shop was renamed before the anchor", async () => {
    const kept = new Map<string, unknown>();
    const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
      if (!kept.has(name)) kept.set(name, await work());
      return kept.get(name) as T;
    };
    const gone = { ...host.anchor, write: () => Promise.reject(new Problem("upstream-failed")) };
    await problemOf((await serve("attest", attest, { ...host, anchor: gone }))(STATEMENT, { step }));

    const renamed = await serve("attest", attest, { ...host, site: { ...host.site, name: "renamed" } });
    const { merkle_root, signature } = await renamed(STATEMENT, { step });
    expect(signature).to.equal(await TREASURY.signMessage({ message: MESSAGE }));
    expect(merkle_root).to.equal(ROOT);
    expect([...host.chain.values()].map(({ input }) => input)).to.deep.equal([`0x${ROOT}`]);
  });

  it("fails as the Base chain fails", async () => {
    const write = async () => {
      throw new Problem("upstream-failed");
    };
    ask = await serve("attest", attest, createHost({ anchor: { ready: async () => {}, write } }));
    expect((await problemOf(ask(STATEMENT))).code).to.equal("upstream-failed");
  });
});
