const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const SQLITE_NOTADB = 26;

/** Whether SQLite itself reports an error: locked, full, corrupt, closed. */
export const isSqliteError = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && /^ERR_(SQLITE_ERROR|INVALID_STATE)$/.test(String(error.code));

/** Whether another connection holds the lock. */
export const isBusy = (error: unknown): boolean => [SQLITE_BUSY, SQLITE_LOCKED].includes(kindOf(error));

/** Whether the disk took no write: full, over a quota, or broken. */
export const isDiskError = (error: unknown): boolean => [SQLITE_IOERR, SQLITE_FULL].includes(kindOf(error));

/** Whether the file does not hold what SQLite has written into it. */
export const isDamage = (error: unknown): boolean => [SQLITE_CORRUPT, SQLITE_NOTADB].includes(kindOf(error));

/** Whether a value does not fit its column. */
export const isOfValue = (error: unknown): boolean => [SQLITE_CONSTRAINT, SQLITE_MISMATCH].includes(kindOf(error));

/** The primary result code: the low byte of an extended one; 0 for other errors. */
const kindOf = (error: unknown): number =>
  error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
