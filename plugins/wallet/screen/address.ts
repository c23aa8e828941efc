import { base58 } from "@scure/base";
import { Problem, toValueError } from "#plugin";

/** The families of chains that an address's shape tells apart (specification 2.5, `chain_inferred`). */
export type Chain = "ethereum" | "solana" | "unknown";

/** An address, and the one spelling of it under which it is looked up. */
export interface Address {
  readonly chain: Chain;
  readonly key: string;
}

const EVM = /^0x[0-9a-f]{40}$/i;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const CASHADDR_PREFIX = /^bitcoincash:/i;
/** Bech32 (BIP 173), and Bitcoin Cash's addresses without their prefix: one address, in capitals or not. */
const EITHER_CASE = /^(?:[a-z]{1,10}1[02-9ac-hj-np-z]{6,}|[qp][02-9ac-hj-np-z]{41})$/i;

/** Reads an address of a chain that is known. @param field the request's. @throws Problem `invalid-input` for any other text. */
export function readChainAddress(text: string, field: string): Address & { readonly chain: Exclude<Chain, "unknown"> } {
  const { chain, key } = readAddress(text);
  if (chain !== "unknown") return { chain, key };
  const error = `${field} must be an EVM address (0x and 40 hex digits) or a Solana public key in base58`;
  throw new Problem("invalid-input", undefined, { issues: [toValueError(error, text, field)] });
}

/** Reads what a caller, or a sanctions list, has written. White space around it means nothing; any text has a key. */
export function readAddress(text: string): Address {
  const written = text.trim();
  if (EVM.test(written)) return { chain: "ethereum", key: written.toLowerCase() };
  if (BASE58.test(written) && base58.decode(written).length === 32) return { chain: "solana", key: written };
  const bare = written.replace(CASHADDR_PREFIX, "");
  return { chain: "unknown", key: EITHER_CASE.test(bare) ? bare.toLowerCase() : bare };
}
