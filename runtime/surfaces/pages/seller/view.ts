import type { Books, TallySum } from "../../../core/books/books.ts";
import type { SiteManifest } from "../../../core/set/manifest.ts";
import type { Look } from "./look.ts";

export interface ShopView {
  readonly books: Books;
  /** Counts in the look's span, and in the span before it; undefined where not all of them are kept any more. */
  readonly tallies: { readonly now: readonly TallySum[] | undefined; readonly before: readonly TallySum[] | undefined };
  /** What is older is not kept: Unix milliseconds; 0 for lines that are kept for ever. */
  readonly kept: { readonly countsFrom: number; readonly linesFrom: number };
  /** The number of buyers in both spans. */
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

/** A problem that needs a person. */
export interface Trouble {
  readonly what: string;
  /** How to fix it: a command, or a sentence. */
  readonly mend: string;
}
