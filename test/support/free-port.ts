import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems hand out themselves, so that nobody is given it before its program has started. */
const [LOWEST, HIGHEST] = [10_240, 32_000];

/** A port of loopback that is free now: for programs that must be told one before they start. */
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
