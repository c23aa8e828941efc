import { join } from "node:path";
import type { Books } from "../../core/books/books.ts";
import { openBooks } from "../../drivers/books/open-books.ts";
import type { ProjectionOptions } from "../../drivers/books/projection.ts";
import { NAMESPACE, storeFileOf } from "../../drivers/store/open-store.ts";
import type { Config } from "../config/config.ts";

/** A shop's book, opened on first use. */
export interface BookAccess {
  /** @throws Problem `unavailable`; the next call tries again. */
  open(): Promise<Books>;
  /** The number of entries read so far, while this machine's copy of the book is being built; 0 when few. */
  taken(): number;
  close(): Promise<void>;
}

/** How this machine's copy of a book is maintained. */
export type CopyUpkeep = Pick<ProjectionOptions, "forget" | "isGentle" | "onProgress" | "onDamaged">;

/**
 * Opens the book file in the data directory. When Redis is configured, that file is this machine's copy of the book in
 * Redis.
 */
export function createBookAccess(
  { dataDir, redisUrl }: Pick<Config, "dataDir" | "redisUrl">,
  upkeep: CopyUpkeep = {},
): BookAccess {
  let opened: Promise<Books> | undefined;
  let taken = 0;
  function onProgress(count: number): void {
    taken = count;
    upkeep.onProgress?.(count);
  }
  const open = (): Promise<Books> =>
    openBooks(
      redisUrl === undefined
        ? { file: storeFileOf(dataDir) }
        : { redisUrl, namespace: NAMESPACE, file: join(dataDir, "book.sqlite"), ...upkeep, onProgress },
    );
  return {
    open() {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    taken: () => taken,
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
