import { type SandboxServer, startSandboxServer } from "./sandbox-server.ts";

/** One sandbox of the project's own services for all test files of this process, stopped after the last test. */
export function sharedSandboxServer(): Promise<SandboxServer> {
  shared ??= startSandboxServer();
  return shared;
}

let shared: Promise<SandboxServer> | undefined;

after("stops the shared sandbox server", async () => (await shared)?.stop());
