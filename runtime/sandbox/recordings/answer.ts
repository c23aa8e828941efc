import type { RecordedExchange } from "./recordings.ts";

/** A recorded response as HTTP. */
export interface RecordedAnswer {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly delayMs: number;
}

/** @param id of the JSON-RPC call; null for any other request. */
export function toRecordedAnswer(exchange: RecordedExchange, id: unknown): RecordedAnswer {
  const { status = 200, headers = {}, delay_ms = 0, text, file } = exchange.response;
  const isJson = text === undefined && file === undefined;
  return {
    status,
    headers: { ...(isJson && { "content-type": "application/json" }), ...headers },
    body: toBody(exchange, id),
    delayMs: delay_ms,
  };
}

function toBody({ response, content }: RecordedExchange, id: unknown): Buffer {
  const { text, json, result, rpc_error: error } = response;
  if (content) return content;
  if (text !== undefined) return Buffer.from(text);
  if (json !== undefined) return Buffer.from(JSON.stringify(json));
  return Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, ...(error ? { error } : { result }) }));
}
