import { randomUUID } from "node:crypto";
import type { DoorRequest } from "../../runtime/surfaces/rpc/door.ts";

/** A POST with this body, from a client without limits. */
export const toDoorRequest = (text: string, facts: Partial<DoorRequest>): DoorRequest => ({
  headers: {},
  read: async () => ({ text, bytes: Buffer.byteLength(text) }),
  admit: async () => {},
  requestId: randomUUID(),
  client: "192.0.2.1",
  signal: new AbortController().signal,
  ...facts,
});
