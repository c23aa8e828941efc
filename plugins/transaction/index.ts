import { definePlugin, Problem, type Upstream } from "#plugin";
import { readEvm } from "./evm.ts";
import { readSolana } from "./solana.ts";
import { toTransactionId } from "./transaction-id.ts";

/** Decodes transactions of three chains into one shape (/v1/decode/tx); fields of the other kind of chain are null. */
export default definePlugin("transaction", ({ upstream }) => {
  const nodes = { base: upstream("base"), ethereum: upstream("ethereum"), solana: upstream("solana") };
  return {
    decode: {
      check(input) {
        // The form of a hash depends on the chain, which the schema may have refused.
        if (Object.hasOwn(nodes, input.chain)) toTransactionId(input);
      },

      async run({ chain, tx_hash: given }, { signal }) {
        const tx_hash = toTransactionId({ chain, tx_hash: given });
        const node = nodes[chain];
        const found = await (chain === "solana" ? readSolana : readEvm)(node, tx_hash, signal);
        if (!found) throw toUnknown(node, tx_hash);
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
