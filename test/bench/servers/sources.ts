import { join } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { toRecordedAnswer } from "../../../runtime/sandbox/recordings/answer.ts";
import { fits, isRpcCall } from "../../../runtime/sandbox/recordings/match.ts";
import { isAnswering, loadRecordings, type RecordedResponse } from "../../../runtime/sandbox/recordings/recordings.ts";
import { signatures } from "../service-calls.ts";
import { announce } from "./announce.ts";

/**
 * All sources of the services on one port, each below its id. After 50 ms they answer what was recorded and, to what nobody
 * has recorded, something of the same kind: so that each question of a round can be another one.
 */
const LATENCY_MS = 50;
const WORD = `0x${"1".padStart(64, "0")}`;

const exchanges = loadRecordings(join(import.meta.dirname, "../../..")).flatMap((recording) =>
  recording.exchanges.filter(isAnswering).map((exchange) => ({ upstream: recording.upstream, exchange })),
);
const known = signatures();

await announce(() => async (request, response) => {
  const url = new URL(request.url ?? "", "http://sources");
  const [, id = "", below = ""] = /^\/([a-z]+)(.*)$/.exec(url.pathname) ?? [];
  const method = request.method === "POST" ? "POST" : "GET";
  const body = method === "POST" ? await json(request) : undefined;
  await sleep(LATENCY_MS);
  const question = { method, path: below + url.search, body } as const;
  const found = exchanges.find(({ upstream, exchange }) => upstream === id && fits(exchange.request, question));
  const exchange = found?.exchange ?? {
    case: "success",
    request: question,
    response: improvise(id, url.searchParams, body),
  };
  const { status, headers, body: content } = toRecordedAnswer(exchange, isRpcCall(body) ? body.id : null);
  response.writeHead(status, headers).end(content);
});

function improvise(id: string, query: URLSearchParams, body: unknown): RecordedResponse {
  if (id === "coingecko") return { json: [toCoin(query.get("symbols") ?? "")] };
  if (id === "goplus") return responseOf(id, "success");
  if (id === "openchain") return { json: { ok: true, result: { function: toListing(query.get("function") ?? "") } } };
  if (id === "llm")
    return { json: toCompletion(JSON.stringify(body).includes('"notes"') ? "notes" : "summary_bullets") };
  const isName = id === "ethereum" && isRpcCall(body) && body.method === "eth_call";
  return isName ? responseOf(id, "empty:ens_name") : { result: WORD };
}

function responseOf(id: string, name: string): RecordedResponse {
  const found = exchanges.find(({ upstream, exchange }) => upstream === id && exchange.case === name);
  if (!found) throw new Error(`${id} has no recording ${name}`);
  return found.exchange.response;
}

const toCoin = (symbol: string): object => ({ id: symbol, symbol, name: symbol, current_price: 1.5, market_cap: 1e9 });

const toListing = (selector: string): object => ({
  [selector]: known.has(selector) ? [{ name: known.get(selector), filtered: false, hasVerifiedContract: true }] : null,
});

function toCompletion(field: "notes" | "summary_bullets"): object {
  const content = JSON.stringify({
    [field]: ["The bridge closes.", "Buses may cross.", "The repair is not paid for."],
  });
  return { choices: [{ index: 0, message: { role: "assistant", content, refusal: null }, finish_reason: "stop" }] };
}
