import { Problem } from "../../api/problem.ts";
import type { SiteManifest } from "../set/manifest.ts";

/** Which wallets the lists of a shop let in. */
export interface Guests {
  /** Whether there are lists. Otherwise everybody is let in. */
  readonly isListed: boolean;
  /** @throws Problem `buyer-refused`. */
  check(wallets: readonly string[]): void;
}

/** An address as the rules compare it: EVM addresses differ in their checksums' capitals only, Solana's are exact. */
export const toAccount = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address);

/** The lists `deny` and `allow`. Where one of them is set, a buyer without a proven wallet is refused. */
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

/** The same sentence for every reason: whom a shop refuses and why is its own affair. */
export const refused = (): Problem =>
  new Problem("buyer-refused", "The seller's rules do not let this wallet buy; nothing was charged");
