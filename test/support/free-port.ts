import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below the ephemeral ports of operating systems, so that no other program gets the port before the test's program
 * starts.
 */
const [LOWEST, HIGHEST] = [10_240, 32_000];

/** A free port on loopback, for programs that need a port number before they start. */
export async function findFreePort(): Promise<number> {
  const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
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
