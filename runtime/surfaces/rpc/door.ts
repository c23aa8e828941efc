import type { Problem } from "../../api/problem.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import type { RequestHeaders } from "../http/headers.ts";

/** A JSON-RPC endpoint (MCP, A2A) as a function of text. It never rejects. */
export interface RpcDoor {
  handle(request: DoorRequest): Promise<DoorReply>;
}

/** One POST, its body read within the limits of size and depth. */
export interface DoorRequest {
  readonly headers: RequestHeaders;
  readonly body: string;
  /** As in the log and in problem documents. */
  readonly requestId: string;
  /** The client address, as the limits count it. */
  readonly client: string;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

export interface DoorReply {
  readonly status: number;
  /** By lower-cased name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The services that were called, for the log and the limits. */
  readonly calls: readonly DoorCall[];
}

/** How one call of a service ended. */
export interface DoorCall {
  /** A service's id; the door's name where no service was reached. */
  readonly service: string;
  /** Set when payment is required. */
  readonly challenge?: object;
  readonly receipt?: SettleResponse;
  readonly problem?: Problem;
}
