import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { closeServer } from "../../../../../runtime/sandbox/json-rpc.ts";
import { toRecordedAnswer } from "../../../../../runtime/sandbox/recordings/answer.ts";
import { fits, isRpcCall } from "../../../../../runtime/sandbox/recordings/match.ts";
import { isAnswering, loadRecordings } from "../../../../../runtime/sandbox/recordings/recordings.ts";
import { findFreePort } from "../../../../support/free-port.ts";

/** How a source fails. Whoever has been asked too often says for how long it wants to be left alone. */
export type Failure = "refuses connections" | "hangs" | "breaks" | "is asked too often" | "makes no sense" | "floods";

export const FAILURES: readonly Failure[] = [
  "refuses connections",
  "hangs",
  "breaks",
  "is asked too often",
  "makes no sense",
  "floods",
];

/** An upstream on loopback that answers what its recordings say, until a test lets it fail. */
export interface RecordedSource {
  readonly id: string;
  /** With a secret in its path, as many providers have it. */
  readonly url: string;
  readonly secret: string;
  /** How many requests have come so far. */
  asked(): number;
  fail(how: Failure): Promise<void>;
  recover(): Promise<void>;
  close(): Promise<void>;
}

const EXCHANGES = Map.groupBy(
  loadRecordings(join(import.meta.dirname, "../../../../..")).flatMap(({ upstream, exchanges }) =>
    exchanges.filter(isAnswering).map((exchange) => ({ upstream, exchange })),
  ),
  ({ upstream }) => upstream,
);
const TEN_MEGABYTES = Buffer.alloc(10 * 1024 * 1024, 0x20);

/** @param node that is asked what nobody has recorded; without one that is not found. */
export async function openRecordedSource(id: string, node?: string): Promise<RecordedSource> {
  const secret = `secret-of-${id}-0123456789`;
  const prefix = `/${secret}`;
  let failure: Failure | undefined;
  let asked = 0;
  const server = createServer(async (request, response) => {
    asked += 1;
    const body = await text(request);
    if (failure) return failAs(failure, response);
    const path = (request.url ?? "").slice(prefix.length);
    await answer({ method: request.method === "POST" ? "POST" : "GET", path, body }, response);
  });
  const port = await findFreePort(); // Nobody else gets it while connections are refused.
  await listen(port);
  return {
    id,
    url: `http://127.0.0.1:${port}${prefix}`,
    secret,
    asked: () => asked,
    async fail(how) {
      if (failure === "refuses connections") await listen(port);
      failure = how;
      if (how === "refuses connections") await close();
    },
    async recover() {
      if (failure === "refuses connections") await listen(port);
      failure = undefined;
    },
    async close() {
      if (server.listening) await close();
    },
  };

  async function answer(asked: { method: "GET" | "POST"; path: string; body: string }, response: ServerResponse) {
    const body: unknown = asked.body === "" ? undefined : JSON.parse(asked.body);
    const found = EXCHANGES.get(id)?.find(({ exchange }) => fits(exchange.request, { ...asked, body }));
    if (found) {
      const {
        status,
        headers,
        body: content,
        delayMs,
      } = toRecordedAnswer(found.exchange, isRpcCall(body) ? body.id : null);
      await sleep(delayMs);
      response.sendDate = false; // What was recorded is as old as its recording.
      response.writeHead(status, headers).end(content);
      return;
    }
    if (!node) return response.writeHead(404).end("{}");
    const passed = await fetch(node, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: asked.body,
    });
    response.writeHead(passed.status, { "content-type": "application/json" }).end(await passed.text());
  }

  async function listen(at: number): Promise<void> {
    server.listen(at, "127.0.0.1");
    await once(server, "listening");
  }

  async function close(): Promise<void> {
    await closeServer(server);
  }
}

function failAs(failure: Failure, response: ServerResponse): void {
  if (failure === "hangs") return;
  if (failure === "breaks") response.writeHead(500).end("Internal error");
  if (failure === "is asked too often") response.writeHead(429, { "retry-after": "30" }).end("{}");
  if (failure === "makes no sense") response.writeHead(200, { "content-type": "text/html" }).end("<html>Welcome");
  if (failure === "floods") response.writeHead(200, { "content-type": "application/json" }).end(TEN_MEGABYTES);
}
