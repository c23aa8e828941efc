import { createServer } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Exchange, isAnswering, loadRecordings } from "../../../runtime/sandbox/recordings.ts";
import { toAnswer } from "../../../runtime/sandbox/recordings-answer.ts";
import { fits, isRpcCall, type RpcCall } from "../../../runtime/sandbox/recordings-match.ts";
import { signatures } from "../service-calls.ts";
import { announce } from "./announce.ts";

/**
 * All sources of the services on one port, each below its id. They answer after 50 ms what was recorded, and to what
 * nobody has recorded something of the same kind, so that each question of a round can be another one.
 */
const LATENCY_MS = 50;
const recordings = loadRecordings(join(import.meta.dirname, "../../.."));
const exchanges = recordings.flatMap((recording) =>
  recording.exchanges.filter(isAnswering).map((exchange) => ({ upstream: recording.upstream, exchange })),
);
const recorded = (id: string, name: string): Exchange => {
  const found = exchanges.find(({ upstream, exchange }) => upstream === id && exchange.case === name);
  if (!found) throw new Error(`${id} has no recording ${name}`);
  return found.exchange;
};
const known = signatures();

await announce(() => async (request, response) => {
  const [, id = "", path = ""] = /^\/([a-z]+)(.*)$/.exec(request.url ?? "") ?? [];
  const method = request.method === "POST" ? "POST" : "GET";
  const body = method === "POST" ? await json(request) : undefined;
  await sleep(LATENCY_MS);
  const found = exchanges.find(
    ({ upstream, exchange }) => upstream === id && fits(exchange.request, { method, path, body }),
  );
  const rpcId = isRpcCall(body) ? body.id : null;
  const { status, headers, body: content } = toAnswer(found?.exchange ?? improvise(id, path, body), rpcId);
  response.writeHead(status, headers).end(content);
});
