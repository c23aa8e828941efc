import { expect } from "chai";
import attest from "../../../plugins/attest/index.ts";
import { type Hex, Problem } from "../../../runtime/api/plugin.ts";
import { createHost, problemOf, type Serve, serve, TREASURY, toTransaction } from "../host.ts";
import { caller, INPUT, MESSAGE, OUTPUT, ROOT, STATEMENT, TX } from "./statement.ts";

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
    "a transaction that the node does not know": {
      flags: { anchor_confirmed: false, root_matches: false, anchored_at_block: null, anchored_at_time: null },
      notes: "there is none, or it is too new, or too old for the node's history",
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
    host.chain.set(TX, { ...toTransaction(TX, `0x${ROOT.toUpperCase()}`), from: from.toLowerCase() as Hex });
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
