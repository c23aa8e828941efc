import { definePlugin, type Hex } from "#plugin";
import { toCallerSignature, toTreasurySignature } from "./receipt-signature.ts";
import { inspect, toChecksum } from "./signatures.ts";
import { checkClaim, isSigned, toMerkleRoot, toMessage } from "./statement.ts";
import { toAnchored, toVerificationNotes } from "./verification.ts";

/** Signs and anchors decisions (/v1/attest) and verifies the receipts free of charge (/v1/attest/verify). */
export default definePlugin("attest", ({ anchor, clock, evm, site, treasury }) => ({
  attest: {
    check: checkClaim,

    /** Refuses a signature that does not verify, before the caller is charged. */
    async ready(input, signal) {
      if (isSigned(input)) await toCallerSignature(input, toMessage(site.name, input), evm, signal);
      await anchor.ready(signal);
    },

    async run(input, { signal, step }) {
      // The message is kept, too: what is anchored is what was signed, though the shop may be renamed in between.
      const { message, seal, signed_at } = await step("sign the message", async () => {
        const message = toMessage(site.name, input);
        const seal = await (isSigned(input)
          ? toCallerSignature(input, message, evm, signal)
          : toTreasurySignature(message, treasury));
        return { message, seal, signed_at: Math.floor(clock.now() / 1000) };
      });
      const merkle_root = toMerkleRoot(message);
      const { base, solana } = await step("anchor", () => anchor.write(merkle_root, signal));
      return {
        merkle_root,
        signer_verified: true,
        decision: input.decision,
        ...seal,
        base,
        solana,
        signed_at,
        verify_url: `${site.baseUrl}/v1/attest/verify`,
        input_hash: input.input_hash.toLowerCase(),
        output_hash: input.output_hash.toLowerCase(),
        base_tx: base.tx,
      };
    },
  },

  verify: {
    check: checkClaim,

    async run(input, { signal }) {
      const message = toMessage(site.name, input);
      const root = toMerkleRoot(message);
      const [signed, transaction] = await Promise.all([
        inspect(input, message, evm, signal),
        evm.transaction(input.base_tx as Hex, signal), // The schema's pattern guarantees the form.
      ]);
      const found = transaction && { ...transaction, from: (await toChecksum(transaction.from)) as Hex };
      const anchored = toAnchored(found, root);
      return {
        valid: signed.valid && anchored.anchor_confirmed && anchored.root_matches,
        merkle_root: root,
        signature_valid: signed.valid,
        signer: signed.signer ?? "unknown",
        ...anchored,
        notes: toVerificationNotes(signed, input.signer ?? undefined, anchored, found),
      };
    },
  },
}));
