import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { BookEvent, RefundEvent, ReversalEvent, SaleEvent } from "../../core/books/events.ts";
import { KINDS, packAmount, packHex, packId, packUsd, packUuid } from "./packing.ts";
import { keyOf, PARTS, SHOWN } from "./schema.ts";

/** A row of `book_lines` without its number and the times of a sale. */
interface NewLine extends Taken {
  readonly id: SQLInputValue;
  readonly kind: number;
  /** The number of the sale's line. */
  readonly sale: number | null;
  readonly at: number;
}

/** What refunds, reversals and restorations copy from their sale. */
interface Taken {
  readonly terms: number;
  readonly amount: SQLInputValue;
  readonly nano: SQLInputValue;
  readonly payer: SQLInputValue;
  readonly tx: SQLInputValue;
  readonly request: SQLInputValue;
  readonly job: SQLInputValue;
}

interface SoldLine extends Taken {
  readonly seq: number;
}

/** The terms that many sales share: the columns of `book_terms` from `service` on. */
type Terms = readonly (string | number | null)[];

const MOST_KNOWN = 1000;
const NO_STEPS = [null, null, null, null, null];
/** node:sqlite passes JavaScript numbers as floating-point values. */
const whole = (value: string): string => `iif(typeof(${value}) = 'real', CAST(${value} AS INTEGER), ${value})`;

/** Writes events as lines. A line with an existing id is removed when lines are shown. */
export function createLineWriter(db: DatabaseSync): (event: BookEvent) => void {
  const insert = db.prepare(
    `INSERT INTO book_lines (id, kind, sale, at, terms, amount, nano, payer, tx, request, job,
       begun, reserved, verified, worked, recorded)
     VALUES (?1, ?2, ?3, ?4, ?5, ${whole("?6")}, ${whole("?7")}, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)`,
  );
  const findTerms = db.prepare("SELECT id FROM book_terms WHERE text = ?");
  const known = new Map<string, number>();
  /** What this transaction has added may be rolled back with it. A transaction ends within one turn. */
  const added = new Set<string>();
  const addTerms = db.prepare(
    `INSERT INTO book_terms (text, service, door, rail, network, asset, decimals, receiver, set_digest)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const sold = "SELECT l.seq AS seq, terms, amount, nano, payer, tx, request, job FROM";
  const byId = db.prepare(`${sold} book_ids i JOIN book_lines l ON l.seq = i.seq WHERE i.id = ?1
    UNION ALL ${sold} book_lines l WHERE l.seq > ${SHOWN} AND id = ?1 ORDER BY 1 LIMIT 1`);
  const byJob = db.prepare(`${sold} ${PARTS} p CROSS JOIN book_keys k ON k.part = p.part AND k.key = ${keyOf("?1")}
      CROSS JOIN book_lines l ON l.seq = k.seq AND job = ?1 AND kind = 0
    UNION ALL ${sold} book_lines l WHERE l.seq > ${SHOWN} AND job = ?1 AND kind = 0 ORDER BY 1 LIMIT 1`);

  return (event) => {
    if (event.kind === "sale") enterSale(event);
    else if (event.kind === "refund") enterRefund(event);
    else if (KINDS.includes(event.kind)) enterReversal(event);
    else throw new TypeError(`the book has no lines of the kind ${event.kind}`); // A later version may.
  };

  function enterSale(event: SaleEvent): void {
    const { id, at, amount, usd, payer, transaction, requestId, job, service, door, rail, network, asset } = event;
    const terms = termsOf([service, door, rail, network, asset, event.decimals, event.receiver, event.set]);
    const own = [packHex(payer), packHex(transaction), packUuid(requestId), packUuid(job)] as const;
    insert.run(packId(id), 0, null, at, terms, packAmount(amount), packUsd(usd), ...own, ...toSteps(event));
  }

  /** A refund copies the terms of its sale; when the book has no such sale, its own terms, as far as known. */
  function enterRefund({ id, kind, at, service, network, asset, amount, ...refund }: RefundEvent): void {
    const [job, payer] = [packUuid(refund.job), packHex(refund.payer)];
    const own = { id: packId(id), kind: KINDS.indexOf(kind), at, amount: packAmount(amount), job };
    const tx = packHex(refund.transaction);
    const line = byJob.get(job) as SoldLine | undefined;
    if (line) write({ ...line, ...own, sale: line.seq, payer: line.payer ?? payer, tx });
    else {
      const terms = termsOf([service, null, network, network, asset, null, null, null]);
      write({ ...own, sale: null, terms, nano: null, payer, tx, request: null });
    }
  }

  /** A reversal without a sale in the book is ignored: the settlement never counted. */
  function enterReversal({ id, kind, at, sale, transaction }: ReversalEvent): void {
    const line = byId.get(packId(sale)) as SoldLine | undefined;
    if (!line) return;
    const tx = transaction === undefined ? line.tx : packHex(transaction);
    write({ ...line, id: packId(id), kind: KINDS.indexOf(kind), sale: line.seq, at, tx });
  }

  function write({ id, kind, sale, at, terms, amount, nano, payer, tx, request, job }: NewLine): void {
    insert.run(id, kind, sale, at, terms, amount, nano, payer, tx, request, job, ...NO_STEPS);
  }

  function termsOf(terms: Terms): number {
    const text = JSON.stringify(terms);
    const id = known.get(text);
    if (id !== undefined) return id;
    const row = findTerms.get(text) as { id: number } | undefined;
    if (!row) return addNew(text, terms);
    if (known.size >= MOST_KNOWN) known.clear();
    if (!added.has(text)) known.set(text, row.id);
    return row.id;
  }

  function addNew(text: string, terms: Terms): number {
    added.add(text);
    queueMicrotask(() => added.delete(text));
    return Number(addTerms.run(text, ...terms).lastInsertRowid);
  }
}

/** In the form that `schema.ts` describes. */
function toSteps({ at, times }: SaleEvent): readonly (number | null)[] {
  if (times === null) return NO_STEPS;
  const { begun, reserved, verified, worked, recorded } = times;
  const after = (step: number | undefined): number | null => (step === undefined ? null : step - begun);
  return [at - begun, after(reserved), after(verified), after(worked), after(recorded)];
}
