/** The socket of the first process on a data directory. */
export const SOCKET = "admin.sock";

/** The socket of a further process. */
export const toOwnSocket = (pid: number): string => `admin-${pid}.sock`;
