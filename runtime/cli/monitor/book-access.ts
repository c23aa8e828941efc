import { join } from "node:path";
import type { Books } from "../../core/books/books.ts";
import { openBooks } from "../../drivers/books/open-books.ts";
import { NAMESPACE, storeFileOf } from "../../drivers/store/open-store.ts";
import type { Config } from "../config/config.ts";

/** The shop's book, opened at the first question. */
export interface BookAccess {
  /** @throws Problem `unavailable`; the next call tries again. */
  open(): Promise<Books>;
  close(): Promise<void>;
}

/** @param forgetBefore lines that are older are taken out of a book that is kept in Redis: Unix milliseconds */
export function createBookAccess(
  config: Pick<Config, "dataDir" | "redisUrl">,
  forgetBefore?: () => number,
): BookAccess {
  const { dataDir, redisUrl } = config;
  let opened: Promise<Books> | undefined;
  const open = (): Promise<Books> =>
    openBooks(
      redisUrl === undefined
        ? { file: storeFileOf(dataDir) }
        : { redisUrl, namespace: NAMESPACE, file: join(dataDir, "books.sqlite"), forgetBefore },
    );
  return {
    open() {
      opened ??= open().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
