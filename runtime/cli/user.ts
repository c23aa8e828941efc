import { userInfo } from "node:os";

/** The name of this process's user; a container may run as a user that has none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
}
