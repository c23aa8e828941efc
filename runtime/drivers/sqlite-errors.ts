const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;

/** Whether SQLite itself reports an error: locked, full, corrupt, closed. */
export const isSqliteError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^ERR_(SQLITE_ERROR|INVALID_STATE)$/.test(String(error.code));

/** Whether another connection holds the lock. The low byte of an extended result code is the primary code. */
export function isBusy(error: unknown): boolean {
  const kind = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  return kind === SQLITE_BUSY || kind === SQLITE_LOCKED;
}
