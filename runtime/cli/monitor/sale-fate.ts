import type { BookLine } from "../../core/books/books.ts";
import { readSaleAnswer } from "../../core/notes/answers.ts";
import { createRefundRecords } from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import type { SaleFate } from "../../surfaces/pages/seller/sale.ts";
import { isWorkId } from "./jobs.ts";

/** Reads what became of a sale, as far as the book does not tell. @throws Problem `unavailable`. */
export async function readSaleFate(store: Store, sale: BookLine): Promise<SaleFate> {
  const owed = sale.job !== null && isWorkId(sale.job) ? await createRefundRecords(store).read(sale.job) : undefined;
  return { answer: await readSaleAnswer(store, sale), owed };
}
