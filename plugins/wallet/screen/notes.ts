import type { ScreenFindings } from "./findings.ts";
import { FLAGS } from "./flags.ts";

/** The findings in sentences: first the sanctions list, then the reputation. */
export const toScreenNotes = (findings: ScreenFindings): string =>
  `${aboutSanctions(findings)} ${aboutReputation(findings)}`;

function aboutSanctions({ listed: { entries, corpus, isCurrent } }: ScreenFindings): string {
  const names = entries.map(({ name }) => name).join(", ");
  if (names !== "") return `Sanctioned: OFAC's SDN list names this address as ${names}'s. Do not deal with it.`;
  if (isCurrent) return `Not on OFAC's SDN list of ${corpus.published}.`;
  return `Not on the sanctions list that was at hand (${corpus.version}), but OFAC's present list could not be read: look again later.`;
}

function aboutReputation({ chain, reputation }: ScreenFindings): string {
  if (chain === "unknown")
    return "It is neither an EVM address nor a Solana key, so nothing but the sanctions list was searched.";
  if (chain === "solana") return "Solana addresses are looked up in the sanctions list alone.";
  if (!reputation) return "GoPlus, which knows bad reputations, did not answer: what is said here is provisional.";
  const missing = reputation.isComplete ? "" : " Some of its data is missing: what is said here is provisional.";
  if (reputation.flags.length === 0)
    return `GoPlus ${reputation.isComplete ? "knows" : "said"} nothing against it.${missing}`;
  return `GoPlus links it to ${reputation.flags.map((flag) => FLAGS[flag].label).join(", ")}.${missing}`;
}
