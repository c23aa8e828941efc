import { Problem } from "../../api/problem.ts";
import { toAccount } from "../account.ts";
import type { SiteManifest } from "../set/manifest.ts";

/** The shop's lists of allowed and denied wallets. */
export interface Guests {
  /** Whether there are lists; otherwise everybody may buy. */
  readonly isListed: boolean;
  /** @throws Problem `buyer-refused`. */
  check(wallets: readonly string[]): void;
}

/** The lists `deny` and `allow`. When either is set, buyers without a proven wallet are refused. */
export function createGuests({ deny, allow }: Pick<SiteManifest, "deny" | "allow">): Guests {
  const denied = new Set(deny?.map(toAccount));
  const allowed = allow && new Set(allow.map(toAccount));
  const isListed = denied.size > 0 || allowed !== undefined;
  const isWelcome = (wallet: string): boolean => !denied.has(wallet) && (allowed?.has(wallet) ?? true);
  return {
    isListed,
    check(wallets) {
      if (isListed && (wallets.length === 0 || !wallets.map(toAccount).every(isWelcome))) throw refused();
    },
  };
}

/** The same sentence for every reason, so that buyers do not learn the shop's rules. */
export const refused = (): Problem =>
  new Problem("buyer-refused", "The seller's rules do not let this wallet buy; nothing was charged");
