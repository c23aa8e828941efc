import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens on any free port of loopback and says which, as the first line on standard output. */
export function announce(server: Server): void {
  server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
}
