import { EVM_ADDRESS } from "../../core/account.ts";
import type { SiteDraft } from "../../core/set/draft.ts";
import { type Fault, faultAt } from "../../core/set/faults.ts";
import { isEvm } from "../../core/set/manifest.ts";
import { fitsChecksum } from "../config/eip55.ts";
import { base58Bytes } from "../config/values.ts";

const MISTYPED = "its capitals do not fit its checksum (EIP-55): a digit may be wrong";

/** Finds tokens, and wallets of house rules, that were mistyped. What is no address at all is found by other checks. */
export function checkAddresses(site: SiteDraft): Fault[] {
  const { rails = [], deny = [], allow = [] } = site.data;
  return [
    ...rails.flatMap((rail, at) => {
      if (!isEvm(rail) || !EVM_ADDRESS.test(rail.asset) || fitsChecksum(rail.asset)) return [];
      return [faultAt(site, ["rails", at, "asset"], "bad-asset", `${MISTYPED}; buyers' clients refuse it`)];
    }),
    ...checkWallets(site, "deny", deny),
    ...checkWallets(site, "allow", allow),
  ];
}

function checkWallets(site: SiteDraft, list: "deny" | "allow", wallets: readonly string[]): Fault[] {
  return wallets.flatMap((wallet, at) => {
    const complaint = explainWallet(wallet);
    return complaint === undefined ? [] : [faultAt(site, [list, at], "bad-account", complaint)];
  });
}

function explainWallet(wallet: string): string | undefined {
  if (EVM_ADDRESS.test(wallet)) return fitsChecksum(wallet) ? undefined : MISTYPED;
  return base58Bytes(wallet, 32) ? undefined : "it is not 32 bytes in base58: a character may be missing";
}
