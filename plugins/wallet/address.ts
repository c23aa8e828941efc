import { base58 } from "@scure/base";
import { Problem, toValueError } from "#plugin";

/** The chain family that an address's form shows (`chain_inferred`). */
export type ChainFamily = "ethereum" | "solana" | "unknown";

/** An address with its canonical spelling, the key of all look-ups. */
export interface WalletAddress {
  readonly chain: ChainFamily;
  readonly key: string;
  /** The EIP-155 chain of an address in CAIP-10 form. */
  readonly chainId?: string;
}

const EVM = /^(?:0x)?([0-9a-f]{40})$/i;
const CAIP_10 = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const CASHADDR_PREFIX = /^bitcoincash:/i;
/** Bech32 (BIP 173) and Bitcoin Cash addresses without prefix: not case-sensitive. */
const EITHER_CASE = /^(?:[a-z]{1,10}1[02-9ac-hj-np-z]{6,}|[qp][02-9ac-hj-np-z]{41})$/i;

/** What `readChainAddress` accepts. */
export interface ChainAddressRules {
  /** The request's field. */
  readonly field: string;
  /** The EIP-155 chains that the service reads. */
  readonly chainIds: readonly string[];
}

/** Reads an EVM or Solana address. @throws Problem `invalid-input` for any other text, and for CAIP-10 of another chain. */
export function readChainAddress(
  text: string,
  { field, chainIds }: ChainAddressRules,
): WalletAddress & { readonly chain: Exclude<ChainFamily, "unknown"> } {
  const { chain, key, chainId } = readAddress(text);
  const isRead = chainId === undefined || chainIds.includes(chainId);
  if (chain !== "unknown" && isRead) return { chain, key };
  const error = isRead
    ? `${field} must be an EVM address (0x and 40 hex digits) or a Solana public key in base58`
    : `${field} is on eip155:${chainId}; this service reads eip155:${chainIds.join(" and eip155:")}`;
  throw new Problem("invalid-input", undefined, { issues: [toValueError(error, text, field)] });
}

/** Reads an address as sent by a caller or printed in a sanctions list. Surrounding white space is ignored; any text has a key. */
export function readAddress(text: string): WalletAddress {
  const [, namespace, reference, account] = CAIP_10.exec(text.trim()) ?? [];
  const written = account ?? text.trim();
  const digits = EVM.exec(written)?.[1];
  if (digits !== undefined)
    return {
      chain: "ethereum",
      key: `0x${digits.toLowerCase()}`,
      ...(namespace === "eip155" && reference !== undefined && { chainId: reference }),
    };
  if (BASE58.test(written) && base58.decode(written).length === 32) return { chain: "solana", key: written };
  const bare = written.replace(CASHADDR_PREFIX, "");
  return { chain: "unknown", key: EITHER_CASE.test(bare) ? bare.toLowerCase() : bare };
}
