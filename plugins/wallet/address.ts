import { base58 } from "@scure/base";
import { Problem, toValueError } from "#plugin";

/** The chain family that an address's form shows (`chain_inferred`). */
export type ChainFamily = "ethereum" | "solana" | "unknown";

/** An address with its canonical spelling, the key of all look-ups. */
export interface WalletAddress {
  readonly chain: ChainFamily;
  readonly key: string;
  /** The chain of an address in CAIP-10 form: its EIP-155 number, or the name of Solana's test cluster. */
  readonly chainId?: string;
  /** The keys of the addresses in a text that holds several, so that none of them is the one that is meant. */
  readonly among?: readonly string[];
  /** The keys of other words in a text that may be addresses of any chain. */
  readonly words?: readonly string[];
}

/** An EVM address. Some databases write `x` or `\\x` before hex. */
const EVM = /^(?:0x|\\?x)?(?:0{24})?([0-9a-f]{40})$/i;
/**
 * An EVM address within other text (`base:0x…`, `ethereum:0x…@8453`, `https://etherscan.io/address/0x…`), but not
 * within a name.
 */
const EVM_INSIDE =
  /(?:(?<![a-z0-9])([a-z0-9]{1,12}):(?:pay-)?)?(?<![a-z0-9])0x([0-9a-f]{40})(?![a-z0-9]|\.[a-z])(?:@([a-z0-9]{1,12}))?/gi;
/** EIP-155 chains by the short names that people write before or after an address (EIP-3770 and others). */
const CHAIN_IDS: ReadonlyMap<string, string> = new Map([
  ["eth", "1"],
  ["mainnet", "1"],
  ["oeth", "10"],
  ["optimism", "10"],
  ["bnb", "56"],
  ["bsc", "56"],
  ["matic", "137"],
  ["polygon", "137"],
  ["base", "8453"],
  ["arb1", "42161"],
  ["arbitrum", "42161"],
  ["avax", "43114"],
  ["avalanche", "43114"],
]);
const CAIP_10 = /^(?:did:pkh:)?([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/i;
/** Solana's clusters of play money (CAIP-30). */
const TEST_CLUSTERS: ReadonlyMap<string, string> = new Map([
  ["EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "devnet"],
  ["4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z", "testnet"],
]);
/** BIP 21 and Solana Pay: `bitcoin:12Qt…?amount=1`. */
const PAYMENT_URI = /^[a-z]{2,12}:(?!\/\/)([1-9A-HJ-NP-Za-km-z]{20,100})(?:\?.*)?$/i;
const OPENING_QUOTES = /^["'`“‘(<[{]+/;
/** Looked for where they begin only: from each of many within a text, it would take quadratic time to find that they end. */
const CLOSING_QUOTES = /(?<!["'`”’)>\]},;.])["'`”’)>\]},;.]+$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** A word that may be an address, but not one in a name (`….eth`). */
const WORD = /(?<![a-z0-9])[a-z0-9]{20,}(?![a-z0-9]|\.[a-z])/gi;
const CASHADDR_PREFIX = /^bitcoincash:/i;
/** Bech32 (BIP 173) and Bitcoin Cash addresses without prefix, which are not case-sensitive. */
const EITHER_CASE = /^(?:[a-z]{1,10}1[02-9ac-hj-np-z]{6,}|[qp][02-9ac-hj-np-z]{41})$/i;

/** The zero address, the usual place for burnt tokens, Solana's system program and its incinerator. */
const NOBODYS: ReadonlySet<string> = new Set([
  `0x${"0".repeat(40)}`,
  `0x${"dead".padStart(40, "0")}`,
  "1".repeat(32),
  "1nc1nerator11111111111111111111111111111111",
]);

/** Whether nobody has an address's secret key, so that what is sent there is lost. @param key as `readAddress` gives it. */
export const isNobodys = (key: string): boolean => NOBODYS.has(key);

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
    : `${field} is on ${chain === "solana" ? "Solana's " : "eip155:"}${chainId}; this service reads Solana's mainnet, eip155:${chainIds.join(" and eip155:")}`;
  throw new Problem("invalid-input", undefined, { issues: [toValueError(error, text, field)] });
}

/**
 * Reads an address from a caller or a sanctions list. Ignores surrounding white space and quotes, invisible characters,
 * and the notations in which addresses are copied, because a listed address must be found. Any text has a key.
 */
export function readAddress(text: string): WalletAddress {
  const clean = text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .trim()
    .replace(OPENING_QUOTES, "")
    .replace(CLOSING_QUOTES, "")
    .trim();
  const [, namespace, reference, account] = CAIP_10.exec(clean) ?? [];
  const written = account ?? PAYMENT_URI.exec(clean)?.[1] ?? clean;
  const digits = EVM.exec(written.replace(/\s/g, ""))?.[1];
  if (digits !== undefined) return toEvm(digits, namespace?.toLowerCase() === "eip155" ? reference : undefined);
  const cluster = TEST_CLUSTERS.get(reference ?? "");
  if (isSolanaKey(written)) return { chain: "solana", key: written, ...(cluster && { chainId: cluster }) };
  return readInside(clean, toKey(written));
}

const toEvm = (digits: string, chainId: string | undefined): WalletAddress => ({
  chain: "ethereum",
  key: `0x${digits.toLowerCase()}`,
  ...(chainId !== undefined && { chainId }),
});

const isSolanaKey = (text: string): boolean =>
  BASE58.test(text) && !isBech32(text) && base58.decode(text).length === 32;

/** Many bech32 addresses are 32 bytes in base58, too. They have letters of one case alone, which no key of Solana has. */
const isBech32 = (text: string): boolean =>
  EITHER_CASE.test(text) && (text === text.toLowerCase() || text === text.toUpperCase());

/** The one EVM address in a text, or the one Solana key in a web address. @param key of a text that holds neither. */
function readInside(text: string, key: string): WalletAddress {
  const found = [...text.matchAll(EVM_INSIDE)];
  const [, before, digits = "", after] = found[0] ?? [];
  const evm = new Set(found.map(([, , each = ""]) => `0x${each.toLowerCase()}`));
  const written = [...new Set(text.match(WORD))].filter((word) => word !== text);
  const words = written.map((word) => readAddress(word).key).filter((word) => word !== key);
  const others = words.length > 0 && { words };
  const keys = written.filter(isSolanaKey);
  const among = [...evm, ...keys];
  if (among.length > 1) return { chain: "unknown", key, among, ...others };
  if (evm.size === 1) return { ...toEvm(digits, toChainId(after) ?? toChainId(before)), ...others };
  const isSolana = keys[0] !== undefined && /^https?:/i.test(text);
  return isSolana ? { chain: "solana", key: keys[0] as string, ...others } : { chain: "unknown", key, ...others };
}

const toChainId = (name = ""): string | undefined => (/^\d+$/.test(name) ? name : CHAIN_IDS.get(name.toLowerCase()));

function toKey(written: string): string {
  const bare = written.replace(CASHADDR_PREFIX, "");
  return EITHER_CASE.test(bare) ? bare.toLowerCase() : bare;
}
