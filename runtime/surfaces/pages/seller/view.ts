import type { Books, TallySum } from "../../../core/books/books.ts";
import type { SiteManifest } from "../../../core/set/manifest.ts";
import type { Look } from "./look.ts";

/** What the views look at. */
export interface ShopView {
  readonly books: Books;
  /** What was counted in the look's span, and in the one before it. */
  readonly tallies: { readonly now: readonly TallySum[]; readonly before: readonly TallySum[] };
  /** How many bought in them. */
  readonly buyers: { readonly now: number; readonly before: number };
  readonly look: Look;
  /** Unix milliseconds. */
  readonly now: number;
  /** The seller's own wallets, EVM addresses in lower case. */
  readonly own: readonly string[];
  readonly rails: SiteManifest["rails"];
  readonly services: readonly {
    readonly id: string;
    readonly title: string;
    readonly price?: string;
    readonly job?: object;
  }[];
  readonly isSandbox: boolean;
}

/** Something that wants a person. */
export interface Trouble {
  readonly what: string;
  /** What mends it: a command, or a sentence. */
  readonly mend: string;
}
