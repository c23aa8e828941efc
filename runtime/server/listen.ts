import type { RequestListener, Server, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../api/problem.ts";
import { oneByOne } from "./pipelining.ts";
import { ANY_ORIGIN } from "./reply/headers.ts";
import { toProblemReply } from "./reply/problems.ts";
import { MAX_HEADER_BYTES, refuseConnection } from "./reply/refusals.ts";
import { noteCutOff } from "./request/context.ts";
import { createServer } from "./request/node-http.ts";

/** How long clients may take, in milliseconds. */
export interface Timeouts {
  /** To send all headers of a request. */
  readonly headersMs: number;
  /** To send a whole request; its answer may take longer. */
  readonly requestMs: number;
  /** Between two requests on a connection. Longer than the 60 s of common proxies, so that the proxy closes first. */
  readonly keepAliveMs: number;
  /** Without a byte in either direction. Longer than any handler's deadline. */
  readonly silenceMs: number;
  /**
   * How long connections without a request are kept while the server closes: a proxy may send one at that moment, and
   * sends no POST a second time.
   */
  readonly lingerMs: number;
}

export interface ListenOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  /** The names of the variables that hold the host and the port, for errors. HOST and PORT by default. */
  readonly variables?: { readonly host: string; readonly port: string };
  readonly timeouts?: Partial<Timeouts>;
  /**
   * Called for each request that could not be read, and each connection that could not be accepted.
   * @param reason as `refuseConnection` takes it, or the code of the system's error
   */
  readonly onRefused?: (problem: Problem, reason: string | undefined) => void;
}

/** A bound port. Its address is known before a listener is attached. */
export interface OpenServer {
  /** `http://host:port`, as a client on this machine would write it. */
  readonly url: string;
  readonly port: number;
  /** Hands all requests to the listener. Before that, requests are answered 503. */
  attach(listener: RequestListener): void;
  /**
   * Accepts no more connections, and closes each after the call that is in flight or comes within a moment; after
   * `graceMs` every connection.
   */
  close(options: { readonly graceMs: number }): Promise<void>;
}

const OWN = { host: "HOST", port: "PORT" };
const TIMEOUTS: Timeouts = {
  headersMs: 10_000,
  requestMs: 30_000,
  keepAliveMs: 65_000,
  silenceMs: 600_000,
  lingerMs: 500,
};

const NOT_ACCEPTED = new Problem("unavailable", "A connection could not be accepted");

/** Binds a port. @throws Problem `unavailable`, with the reason. */
export async function openServer(options: ListenOptions): Promise<OpenServer> {
  const { host, port, variables = OWN, timeouts, onRefused } = options;
  const { headersMs, requestMs, keepAliveMs, silenceMs, lingerMs } = { ...TIMEOUTS, ...timeouts };
  const inFlight = new Set<ServerResponse>();
  let listener: RequestListener = answerNotYet;
  let closing: Promise<void> | undefined;

  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.ceil(headersMs / 2),
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false, // Node's own refusal has no body, and is not logged.
    },
    oneByOne((request, response) => {
      if (request.httpVersion === "1.1" && request.headers.host === undefined) return refuse("NO_HOST", request.socket);
      inFlight.add(response);
      response.once("close", () => {
        inFlight.delete(response);
        if (closing) finish();
      });
      if (closing) response.setHeader("Connection", "close");
      listener(request, response);
    }),
  );
  server.timeout = silenceMs;
  // A process that was kept from running has not read what came meanwhile, perhaps on a connection that a proxy keeps.
  server.on("timeout", async (socket) => {
    const { bytesRead } = socket;
    await nextTurn();
    if (socket.bytesRead === bytesRead) socket.destroy();
  });
  const refuse = (reason: string | undefined, socket: Duplex): void => {
    const problem = refuseConnection(reason, socket);
    if (problem) onRefused?.(problem, reason);
  };
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => refuse(code, socket));
  // What is expected besides 100-continue may be ignored (RFC 9110, section 10.1.1). Node's own 417 would say nothing.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  /** Connections that have asked for a tunnel: Node no longer counts them among its own. */
  const tunnels = new Set<Duplex>();
  const cutAll = (): void => {
    server.closeAllConnections();
    for (const socket of tunnels) socket.destroy();
  };
  server.on("connect", (_request, socket: Socket) => {
    socket.on("error", () => {}); // Node has taken its own listeners off, and an error without one ends the process.
    tunnels.add(socket);
    socket.once("close", () => tunnels.delete(socket)).setTimeout(silenceMs, () => socket.destroy());
    refuse("CONNECT", socket);
  });
  await bind(server, { host, port, variables });
  // For want of memory, say: an error without a listener ends the process.
  server.on("error", ({ code }: NodeJS.ErrnoException) => onRefused?.(NOT_ACCEPTED, code));

  let isLingering = true;
  const finish = (): void => {
    if (inFlight.size === 0 && !isLingering) cutAll();
  };
  const close = async (graceMs: number): Promise<void> => {
    for (const response of inFlight) if (!response.headersSent) response.setHeader("Connection", "close");
    await nextTurn(); // Connections that wait to be accepted would be reset with the port.
    const over = new AbortController();
    // Not the method of `node:http`, which closes the connections without a request at once.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    const cutter = setTimeout(() => {
      for (const response of inFlight) noteCutOff(response);
      cutAll();
    }, graceMs);
    void closed.then(() => over.abort());
    await sleep(Math.min(lingerMs, graceMs), undefined, { signal: over.signal }).catch(() => {});
    await nextTurn(); // A process that was kept from running has not read what came meanwhile.
    isLingering = false;
    server.close(); // Closes the connections without a request, and ends Node's watch over slow ones.
    finish();
    await closed;
    clearTimeout(cutter);
  };
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${toUrlHost(host)}:${bound}`,
    port: bound,
    attach(next) {
      listener = next;
    },
    close({ graceMs }) {
      closing ??= close(graceMs);
      return closing;
    },
  };
}

export const answerNotYet = answering(new Problem("unavailable", "The server is starting", { retryAfter: 1 }));

export const answerClosed = answering(new Problem("unavailable", "The server has closed"));

function answering(problem: Problem): RequestListener {
  return (request, response) => {
    const { status, headers, body } = toProblemReply(problem, undefined, ANY_ORIGIN);
    request.resume();
    response.writeHead(status, [...headers]).end(body);
  };
}

/** A whole turn of the event loop, in which everything is read that has arrived. */
async function nextTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn += 1) await setImmediate();
}

type Place = Required<Pick<ListenOptions, "host" | "port" | "variables">>;

function bind(server: Server, place: Place): Promise<void> {
  const { host, port } = place;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onError = (error: NodeJS.ErrnoException): void =>
    reject(new Problem("unavailable", explain(error, place), { cause: error }));
  server.once("error", onError).listen({ host, port }, () => {
    server.off("error", onError);
    resolve();
  });
  return promise;
}

function explain({ code, message }: NodeJS.ErrnoException, { host, port, variables }: Place): string {
  if (code === "EADDRINUSE")
    return `Port ${port} on ${host} is in use: stop what uses it, or set ${variables.port} (0 = any free port)`;
  if (code === "EACCES")
    return `Port ${port} on ${host} may not be used by this user: set ${variables.port} to one above 1023`;
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
    return `${variables.host} ${host} is no address of this machine`;
  return `Cannot listen on ${host}, port ${port}: ${message}`;
}

/** Whether a server that listens on this address or name is reached from this machine only. */
export const isLoopback = (host: string): boolean => /^(?:127\.|localhost$|::1$)/i.test(host);

/** A wildcard address is reached over loopback. */
function toUrlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
