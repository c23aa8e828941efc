import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Loose } from "./stall.ts";

/** What the official clients have in common. */
export interface OfficialClient {
  getServerVersion(): Loose;
  getInstructions(): string | undefined;
  listTools(): Promise<Loose>;
  callTool(params: { name: string; arguments?: object; _meta?: object }): Promise<Loose>;
  ping?(): Promise<Loose>;
  close(): Promise<void>;
}

export interface Configuration {
  readonly name: string;
  /** The version that client and server must agree on. */
  readonly version: string;
  connect(url: string): Promise<OfficialClient>;
}

const INFO = { name: "a-test", version: "1.0.0" };
const HANDSHAKE = ["2025-11-25", "2025-06-18", "2025-03-26"];

/** Client 2.4 in each of its modes, and client 1.32, in each version that they speak. */
export const CONFIGURATIONS: readonly Configuration[] = [
  toConfiguration2("2.4, as it comes", "2025-11-25", {}),
  toConfiguration2("2.4, negotiating", "2026-07-28", { versionNegotiation: { mode: "auto" } }),
  toConfiguration2("2.4, pinned", "2026-07-28", { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
  ...HANDSHAKE.map((version) =>
    toConfiguration2(`2.4 at ${version}`, version, { supportedProtocolVersions: [version] }),
  ),
  ...HANDSHAKE.map((version) => toConfiguration1(`1.32 at ${version}`, version)),
];

function toConfiguration2(
  name: string,
  version: string,
  options: ConstructorParameters<typeof Client2>[1],
): Configuration {
  return {
    name,
    version,
    async connect(url) {
      const client = new Client2(INFO, options);
      await client.connect(new Transport2(new URL(url)));
      return client as unknown as OfficialClient;
    },
  };
}

/** This client always asks for its newest version; an older one is put into its mouth on the way. */
function toConfiguration1(name: string, version: string): Configuration {
  const older: typeof fetch = (url, init) => {
    const body = typeof init?.body === "string" ? init.body.replace('"2025-11-25"', `"${version}"`) : init?.body;
    return fetch(url, { ...init, body: body ?? null });
  };
  return {
    name,
    version,
    async connect(url) {
      const client = new Client1(INFO);
      const transport = new Transport1(new URL(url), { fetch: older });
      await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
      return client as unknown as OfficialClient;
    },
  };
}
