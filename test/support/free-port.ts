import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ephemeral ports of operating systems, so that no other program gets the port before the test's program
 * starts.
 */
const [LOWEST, HIGHEST] = [10_240, 32_000];
/** How many ports a process of tests has before those of the process that started next. */
const EACH = 997;
let found = 0;

/**
 * A free port on loopback, for programs that need a port number before they start. No port is given out twice, in this
 * or another process: it is free until its program has started, and a second test would find it so.
 */
export async function findFreePort(): Promise<number> {
  const port = LOWEST + ((process.pid * EACH + found) % (HIGHEST - LOWEST));
  found += 1;
  const server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (!isFree) return findFreePort();
  server.close();
  await once(server, "close");
  return port;
}
