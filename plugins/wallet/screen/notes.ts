import { keccak_256 } from "@noble/hashes/sha3";
import { isNobodys } from "../address.ts";
import type { ScreenFindings } from "./findings.ts";
import { FLAGS } from "./flags.ts";

/** The findings in sentences: the sanctions list, the reputation, and oddities of the address. */
export const toScreenNotes = (findings: ScreenFindings): string =>
  [aboutSanctions(findings), aboutReputation(findings), toDoubt(findings)].filter(Boolean).join(" ");

/** Why an address is not the one to send money to, though nothing is known against it; otherwise empty. */
export const toDoubt = (findings: ScreenFindings): string => aboutOwner(findings) || aboutSpelling(findings);

function aboutSanctions({ listed: { entries, corpus, isCurrent }, isInside }: ScreenFindings): string {
  const names = entries.map(({ name }) => name).join(", ");
  if (names !== "")
    return `Sanctioned: OFAC's SDN list names ${isInside ? "an address in it" : "this address"} as ${names}'s. Do not deal with it.`;
  if (isCurrent) return `Not on OFAC's SDN list of ${corpus.published}.`;
  return `Not on the sanctions list that was at hand (${corpus.version}), but OFAC's present list could not be read: look again later.`;
}

const aboutOwner = ({ key }: ScreenFindings): string =>
  isNobodys(key) ? "Nobody has the key of this address: what is sent there is lost." : "";

/** A note about a name, and about an address in mixed case whose checksum (EIP-55) is wrong, as after a typing error. */
function aboutSpelling({ wallet, key, chain }: ScreenFindings): string {
  if (chain === "unknown" && /\.(?:eth|sol)$/i.test(wallet.trim()))
    return "It is a name: resolve it, and screen the address that it leads to.";
  const digits = key.slice(2);
  const [written = ""] = chain === "ethereum" ? (new RegExp(digits, "i").exec(wallet) ?? []) : [];
  const isMixed = /[a-f]/.test(written) && /[A-F]/.test(written);
  if (!isMixed || written === toChecksum(digits)) return "";
  return "Its capital letters are not those of its checksum (EIP-55): it may hold a typing error.";
}

/** @param digits 40 hex digits in lower case. */
function toChecksum(digits: string): string {
  const hash = Buffer.from(keccak_256(digits)).toString("hex");
  return digits.replace(/[a-f]/g, (digit, at: number) =>
    /[89a-f]/.test(hash.charAt(at)) ? digit.toUpperCase() : digit,
  );
}

const KEYLESS = " No secret key can belong to this one: where it is a token account, screen the wallet that owns it.";

function aboutReputation({ chain, isSeveral, isKeyless, reputation }: ScreenFindings): string {
  if (isSeveral) return "Nothing but the sanctions list was searched. It holds several addresses: screen each of them.";
  if (chain === "unknown")
    return "It is neither an EVM address nor a Solana key, so nothing but the sanctions list was searched.";
  if (chain === "solana")
    return `Solana addresses are looked up in the sanctions list alone.${isKeyless ? KEYLESS : ""}`;
  if (!reputation) return "GoPlus, which knows bad reputations, did not answer: what is said here is provisional.";
  const missing = reputation.isComplete ? "" : " Some of its data is missing: what is said here is provisional.";
  if (reputation.flags.length === 0)
    return `GoPlus ${reputation.isComplete ? "knows" : "said"} nothing against it.${missing}`;
  return `GoPlus links it to ${reputation.flags.map((flag) => FLAGS[flag].label).join(", ")}.${missing}`;
}
