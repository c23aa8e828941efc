import { existsSync } from "node:fs";
import { connect } from "node:net";
import { relative } from "node:path";

/** The socket of the first process on a data directory. */
export const SOCKET = "admin.sock";

/** The socket of a further process. */
export const toOwnSocket = (pid: number): string => `admin-${pid}.sock`;

/** The longest path of a socket: Linux allows 107 bytes, macOS 103. */
const LONGEST_SOCKET = 103;

/** Whether a process listens on a socket, which this user may open. */
export const answers = async (path: string): Promise<boolean> => (await failureAt(path)) === undefined;

/** The code of the error when nobody answers on a socket; undefined when a process listens. */
export async function failureAt(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return "ENOENT";
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ path }, () => resolve(undefined));
  socket.once("error", ({ code = "" }: NodeJS.ErrnoException) => resolve(code));
  return promise.finally(() => socket.destroy());
}

/** The shorter of a socket's absolute and relative paths, since the length is limited. */
export function toSocketPath(path: string): string {
  const near = relative(process.cwd(), path);
  return isTooLong(path) && near.length < path.length ? near : path;
}

/** Whether some systems open no socket of this path. */
export const isTooLong = (path: string): boolean => Buffer.byteLength(path) > LONGEST_SOCKET;
