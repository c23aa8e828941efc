import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Serves on any free port of loopback and, once it can answer, says which, as the first line on standard output. */
export async function announce(
  toListener: (baseUrl: string) => RequestListener | Promise<RequestListener>,
): Promise<void> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.on("request", await toListener(`http://127.0.0.1:${port}`));
  process.stdout.write(`${port}\n`);
}
