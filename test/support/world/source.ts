import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback, NodeRpcError } from "../../../runtime/sandbox/json-rpc.ts";
import { type Line, play } from "../sources/scripted-source.ts";
import type { WorldClock } from "./clock.ts";
import { createGatekeeper, type Manners, type Question } from "./manners.ts";

/** A source on loopback with data and limits. */
export interface WorldSource {
  readonly url: string;
  /** The questions, in order. */
  readonly asked: readonly Question[];
  /** How many requests were above a limit. */
  refused(): number;
  /** Changes the limits from now on. */
  behave(manners: Manners): void;
  close(): Promise<void>;
}

export interface WorldSourceOptions {
  readonly clock: WorldClock;
  readonly manners?: Manners;
  /** The JSON body of a GET, or the result of a JSON-RPC call. @throws NodeRpcError */
  readonly answer: (question: Question) => unknown;
}

/** Opens the source on a free port. A GET whose answer is undefined gets status 404. */
export async function openWorldSource({ clock, manners = {}, answer }: WorldSourceOptions): Promise<WorldSource> {
  const asked: Question[] = [];
  const times = new Map<string, number>();
  const gatekeeper = createGatekeeper(clock);
  let present = manners;
  let refused = 0;

  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { id, question } = read(request, body, times);
    asked.push(question);
    play(decide(question, id), response, { method: "", path: question.name, headers: request.headers, body });
  });
  const url = await listenOnLoopback(server);

  function decide(question: Question, id: unknown): Line {
    const fault = present.fault?.(question);
    if (fault !== undefined) return fault;
    if (!gatekeeper.admit(question.name, present)) {
      refused += 1;
      return present.refusal ?? { status: 429, body: "Too many requests" };
    }
    return id === undefined ? toJsonLine(answer(question)) : toRpcLine(id, () => answer(question));
  }

  return {
    url,
    asked,
    refused: () => refused,
    behave(next) {
      present = next;
    },
    close: () => closeServer(server),
  };
}

function read({ method, url = "" }: IncomingMessage, body: string, times: Map<string, number>) {
  const key = `${url} ${body}`;
  const before = times.get(key) ?? 0;
  times.set(key, before + 1);
  const { pathname, searchParams: query } = new URL(url, "http://world.test");
  if (method === "GET") return { id: undefined, question: { name: pathname, params: [], query, times: before } };
  const call = JSON.parse(body) as { id: unknown; method: string; params?: unknown[] };
  return { id: call.id, question: { name: call.method, params: call.params ?? [], query, times: before } };
}

const toJsonLine = (value: unknown): Line =>
  value === undefined
    ? { status: 404, body: JSON.stringify({ message: "Not found" }) }
    : { headers: { "content-type": "application/json" }, body: JSON.stringify(value) };

const toMembers = ({ code, message, data }: NodeRpcError) => ({ code, message, ...(data !== undefined && { data }) });

function toRpcLine(id: unknown, work: () => unknown): Line {
  try {
    return toJsonLine({ jsonrpc: "2.0", id, result: work() });
  } catch (error) {
    if (!(error instanceof NodeRpcError)) throw error;
    return toJsonLine({ jsonrpc: "2.0", id, error: toMembers(error) });
  }
}
