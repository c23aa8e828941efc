import { definePlugin, Problem, type Upstream } from "#plugin";
import { readEvm } from "./evm.ts";
import { readSolana } from "./solana.ts";
import { toTransactionId } from "./transaction-id.ts";

/** Decodes transactions of three chains into one shape (/v1/decode/tx); fields of the other kind of chain are null. */
export default definePlugin("transaction", ({ upstream }) => {
  const base = upstream("base");
  const ethereum = upstream("ethereum");
  const solana = upstream("solana");
  return {
    decode: {
      check: (input) => void toTransactionId(input),

      async run({ chain, tx_hash: given }, { signal }) {
        const tx_hash = toTransactionId({ chain, tx_hash: given });
        const found = await (chain === "solana"
          ? readSolana(solana, tx_hash, signal)
          : readEvm(chain === "base" ? base : ethereum, tx_hash, signal));
        if (!found) throw toUnknown({ base, ethereum, solana }[chain], tx_hash);
        return { chain, tx_hash, ...NOTHING, ...found };
      },
    },
  };
});

/**
 * The error for an unknown transaction. A node forgets old transactions and learns of new ones late, so it cannot prove
 * that there is none.
 */
const toUnknown = ({ title }: Upstream, hash: string): Problem =>
  new Problem(
    "nothing-found",
    `The ${title} knows no transaction ${hash}: it may be too new, or too old for its history`,
  );

const NOTHING = {
  block_number: null,
  timestamp: null,
  from_address: null,
  to_address: null,
  value_wei: null,
  value_eth: null,
  gas_used: null,
  status: null,
  input_calldata_hex: null,
  native_currency: null,
  slot: null,
  block_time: null,
  fee_lamports: null,
  signers: null,
  program_calls: null,
};
