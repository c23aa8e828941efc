import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/** A request for a chat completion, with the fields that tests read. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
    readonly response_format?: {
      readonly type: string;
      readonly json_schema?: { readonly name: string; readonly strict: boolean; readonly schema: object };
    };
  };
}

/** How an endpoint answers one request. */
export type Behaviour = (asked: Asked, response: ServerResponse) => unknown;

/** A scripted OpenAI-compatible endpoint on a free loopback port. */
export interface LlmServer {
  /** The base URL, for LLM_BASE_URL. */
  readonly url: string;
  readonly asked: Asked[];
  /** Sets the answers to the next requests, in order; the last one is repeated. */
  behave(...behaviours: readonly Behaviour[]): void;
  close(): Promise<void>;
}

export async function openLlmServer(): Promise<LlmServer> {
  const asked: Asked[] = [];
  let script: readonly Behaviour[] = [];
  const server = createServer(async (request, response) => {
    const { url: path = "", headers } = request;
    const one = { path, headers, body: (await json(request)) as Asked["body"] };
    asked.push(one);
    const [behaviour, ...rest] = script;
    if (rest.length > 0) script = rest;
    await behaviour?.(one, response);
  });
  return {
    url: `${await listenOnLoopback(server)}/v1`,
    asked,
    behave(...behaviours) {
      script = behaviours;
    },
    close: () => closeServer(server),
  };
}

/** The most chunks of an answer: more of them take seconds on a busy machine. */
const MOST_CHUNKS = 500;

/** Answers with a text in many small chunks; an object is sent as JSON, a list as the parts of the answer. */
export const say =
  (content: string | object | null, { finish = "stop", refusal = null as string | null } = {}): Behaviour =>
  async ({ body }, response) => {
    const isSent = typeof content !== "object" || content === null || Array.isArray(content);
    const message = { role: "assistant", content: isSent ? content : JSON.stringify(content), refusal };
    const completion = {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_800_000_000,
      model: body.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    response.writeHead(200, { "content-type": "application/json" });
    const text = JSON.stringify(completion);
    const size = Math.max(64, Math.ceil(text.length / MOST_CHUNKS));
    for (let from = 0; from < text.length; from += size) {
      response.write(text.slice(from, from + size));
      await new Promise(setImmediate);
    }
    response.end();
  };

/** Refuses with OpenAI's error body. */
export const refuse =
  (status: number, error: object = {}, headers: Record<string, string> = {}): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify({ error: { message: "No.", type: "error", param: null, code: null, ...error } }));
  };

/** Answers 200 with any body. */
export const send =
  (text: string, type = "application/json"): Behaviour =>
  (_, response) =>
    response.writeHead(200, { "content-type": type }).end(text);

/** Never answers. */
export const hang: Behaviour = () => undefined;

/** Closes the connection without an answer. */
export const hangUp: Behaviour = (_, response) => response.destroy();

/** Closes the connection in the middle of an answer in chunks. */
export const breakOff: Behaviour = (_, response) =>
  response.writeHead(200, { "content-type": "application/json" }).write('{"id":"chatcmpl-1","choices":[{"mess', () => {
    response.destroy();
  });

/** Begins an answer and never ends it. */
export const stall: Behaviour = (_, response) =>
  response.writeHead(200, { "content-type": "application/json" }).write('{"id":');

/** Sends a chunk that is invalid HTTP. */
export const garble: Behaviour = (_, response) =>
  response.socket?.end(
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n",
  );

/** Never stops answering. */
export const flood: Behaviour = (_, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(1 << 16, 0x20);
  const pour = (): void => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", pour);
  pour();
};
