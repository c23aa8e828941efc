import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";

/** One received request. */
export interface Asked {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A number answers with that status and no body; a text answers 200 with that body; `hangs` never answers. */
export type Line =
  | number
  | string
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: string | Buffer }
  | ((response: ServerResponse, asked: Asked) => void);

/** A source on loopback that follows a script. */
export interface ScriptedSource {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** The number of connections. */
  connections(): number;
  /** Sets the answers to the next requests, in order; the last one is repeated. */
  script(...lines: readonly Line[]): void;
  close(): Promise<void>;
}

/** Never answers. */
export const hangs = (): void => {};

/** Sends the head and a first part, then nothing more. */
export const stalls = (response: ServerResponse): void => void response.writeHead(200).write("{");

/** Closes the connection, before or in the middle of an answer. */
export const breaks = (response: ServerResponse): void => void response.socket?.destroy();

export async function openSource(): Promise<ScriptedSource> {
  const asked: Asked[] = [];
  let lines: readonly Line[] = ["{}"];
  let connections = 0;
  const server = createServer(async (request, response) => {
    const line = lines[0] ?? "{}";
    if (lines.length > 1) lines = lines.slice(1);
    const taken = await take(request);
    asked.push(taken);
    play(line, response, taken);
  });
  server.on("connection", () => {
    connections += 1;
  });
  return {
    url: await listenOnLoopback(server),
    asked,
    connections: () => connections,
    script(...next) {
      lines = next;
    },
    close: () => closeServer(server),
  };
}

async function take(request: IncomingMessage): Promise<Asked> {
  const { method = "", url: path = "", headers } = request;
  return { method, path, headers, body: await text(request) };
}

/** Answers one request according to a line of the script. */
export function play(line: Line, response: ServerResponse, asked: Asked): void {
  if (typeof line === "function") {
    line(response, asked);
    return;
  }
  const {
    status = 200,
    headers,
    body = "",
  } = typeof line === "number" ? { status: line } : typeof line === "string" ? { body: line } : line;
  response.writeHead(status, headers).end(body);
}
