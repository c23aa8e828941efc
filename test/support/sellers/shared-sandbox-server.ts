import { atEnd } from "../at-end.ts";
import { type SandboxServer, startSandboxServer } from "./sandbox-server.ts";

/** One sandbox of the project's own services for all test files of this process, stopped after the last test. */
export function sharedSandboxServer(): Promise<SandboxServer> {
  shared ??= start();
  return shared;
}

let shared: Promise<SandboxServer> | undefined;

async function start(): Promise<SandboxServer> {
  const server = await startSandboxServer();
  atEnd(() => server.stop());
  return server;
}
