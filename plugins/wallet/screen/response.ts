import type { Plugins } from "#plugin";
import { readAddress } from "../address.ts";
import type { ScreenFindings } from "./findings.ts";
import { FLAGS, type Flag } from "./flags.ts";
import { toDoubt, toScreenNotes } from "./notes.ts";
import { toRisk } from "./risk.ts";
import type { SdnEntry } from "./sdn.ts";

/** The answer of /v1/screen (schemas/ScreenResponse.json). */
export type ScreenResponse = Required<Plugins["wallet"]["screen"]["output"]> & { readonly corpus_version: string };
type ScreenSignal = ScreenResponse["signals"][number];

/** Builds the answer; the same findings give the same answer. */
export function toScreenResponse(findings: ScreenFindings): ScreenResponse {
  const { wallet, chain, key, listed, reputation, checkedAtMs } = findings;
  const flags = reputation?.flags ?? [];
  const signals = [...listed.entries.map((entry) => toListing(entry, key)), ...flags.map(toFlag)];
  const isListed = listed.entries.length > 0;
  const risk = toRisk(
    signals.map(({ severity }) => severity),
    chain === "unknown" || !listed.isCurrent,
  );
  return {
    wallet,
    chain_inferred: chain,
    sanctions_match: isListed,
    sanctioned_lists: isListed ? ["OFAC SDN"] : [],
    ...risk,
    recommendation: risk.recommendation === "allow" && toDoubt(findings) ? "review" : risk.recommendation,
    notes: toScreenNotes(findings),
    checked_at: Math.floor(checkedAtMs / 1000),
    address_type: reputation?.addressType ?? "unknown",
    signals,
    labels: [...listed.entries.map(({ name }) => name), ...flags.map((flag) => FLAGS[flag].label)],
    corpus_version: listed.corpus.version,
    partial: reputation?.isComplete !== true,
  };
}

function toListing({ uid, name, programs, addresses }: SdnEntry, key: string): ScreenSignal {
  const tickers = addresses.filter(({ address }) => readAddress(address).key === key).map(({ ticker }) => ticker);
  return {
    code: "ofac_sdn",
    severity: "critical",
    source: "treasury.gov",
    detail: `OFAC lists it (${[...new Set(tickers)].join(", ")}) as ${name}'s: SDN entry ${uid}, program ${programs.join(", ")}.`,
  };
}

const toFlag = (flag: Flag): ScreenSignal => ({
  code: flag,
  severity: FLAGS[flag].severity,
  source: "goplus",
  detail: `GoPlus links it to ${FLAGS[flag].label}.`,
});
