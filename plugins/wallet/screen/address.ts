import { base58 } from "@scure/base";
import { Problem, toValueError } from "#plugin";

/** The chain family that an address's form shows (`chain_inferred`). */
export type ChainFamily = "ethereum" | "solana" | "unknown";

/** An address with its canonical spelling, the key of all look-ups. */
export interface WalletAddress {
  readonly chain: ChainFamily;
  readonly key: string;
}

const EVM = /^0x[0-9a-f]{40}$/i;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const CASHADDR_PREFIX = /^bitcoincash:/i;
/** Bech32 (BIP 173) and Bitcoin Cash addresses without prefix: not case-sensitive. */
const EITHER_CASE = /^(?:[a-z]{1,10}1[02-9ac-hj-np-z]{6,}|[qp][02-9ac-hj-np-z]{41})$/i;

/** Reads an EVM or Solana address. @param field the request's field. @throws Problem `invalid-input` for any other text. */
export function readChainAddress(
  text: string,
  field: string,
): WalletAddress & { readonly chain: Exclude<ChainFamily, "unknown"> } {
  const { chain, key } = readAddress(text);
  if (chain !== "unknown") return { chain, key };
  const error = `${field} must be an EVM address (0x and 40 hex digits) or a Solana public key in base58`;
  throw new Problem("invalid-input", undefined, { issues: [toValueError(error, text, field)] });
}

/** Reads an address as sent by a caller or printed in a sanctions list. Surrounding white space is ignored; any text has a key. */
export function readAddress(text: string): WalletAddress {
  const written = text.trim();
  if (EVM.test(written)) return { chain: "ethereum", key: written.toLowerCase() };
  if (BASE58.test(written) && base58.decode(written).length === 32) return { chain: "solana", key: written };
  const bare = written.replace(CASHADDR_PREFIX, "");
  return { chain: "unknown", key: EITHER_CASE.test(bare) ? bare.toLowerCase() : bare };
}
